// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/communicator.h"
#include "object/handle.h"
#include "object/status.h"

#include <atomic>
#include <string_view>

namespace [[gnu::visibility("default")]] patchbay {

class Progress;

// An operation under way, or a persistent operation. Each kind of operation (in a pml, a collective, a generalized
// request) has a derived class, which owns the memory of the request; recycle() releases it.
class Request : public Object {
public:
    enum class State : std::uint32_t { inactive, active, complete };

    bool is_complete() const noexcept { return _state.load(std::memory_order_acquire) == State::complete; }
    bool is_active() const noexcept { return _state.load(std::memory_order_relaxed) != State::inactive; }
    bool is_persistent() const noexcept { return persistent; }
    State state() const noexcept { return _state.load(std::memory_order_acquire); }
    void set_state(State state) noexcept { _state.store(state, std::memory_order_release); }

    // Starts a persistent request, whose state is `inactive`; the state becomes `active` or `complete`. Does not block.
    // Returns an MPI code.
    virtual int start() noexcept = 0;
    // Implements MPI_Cancel. The status at completion tells whether the operation was cancelled. Local; does not block.
    virtual int cancel() noexcept = 0;
    // Releases the handle. Called once: for a complete or inactive request by the call that completes or frees it, and
    // for an active one by MPI_Request_free. An active request releases its memory when it completes.
    virtual void recycle() noexcept = 0;
    // Called by the completing calls and by MPI_Request_free: calls recycle(), and returns the MPI code of the
    // program's callback if one was run.
    virtual int release() noexcept {
        recycle();
        return MPI_SUCCESS;
    }
    // Called by the completing calls (wait, test, get_status) for a complete request, before they return the status. A
    // generalized request runs its query callback here. Returns the MPI code of the operation.
    virtual int finish(MPI_Status* status) noexcept {
        (void)status;
        return error;
    }

    // The cause of an error as a text, where the derived class stores one. Valid once complete.
    virtual std::string_view cause() const noexcept { return {}; }

    MPI_Status status{};     // valid once complete
    int error = MPI_SUCCESS; // the operation's own code, valid once complete
    bool persistent = false;
    // The communicator whose error handler is called; nullptr: that of the world model. Not owned: when the operation
    // is complete without an error, the communicator may have been destroyed. Therefore the request also stores the
    // address of the session, which may only be compared. (A session id is not needed, because a request must be
    // completed before its session is finalized, MPI-5.0, 11.3.1.) belong_to() sets both.
    Communicator* comm = nullptr;
    Session* session = nullptr;   // nullptr: world model
    Progress* progress = nullptr; // that a wait for this request polls; never null once the user has the handle

protected:
    Request() noexcept
        : Object(ObjectKind::request) {}
    virtual ~Request() = default;
    void belong_to(Communicator& communicator) noexcept {
        comm = &communicator;
        session = communicator.session;
    }

private:
    std::atomic<State> _state{State::inactive};
};

// A message that a matched probe has removed from the matching queues (MPI-5.0, 3.8.2). A pml allocates and releases
// it.
class Message : public Object {
public:
    Communicator* comm = nullptr;
    MPI_Status status{};

protected:
    Message() noexcept
        : Object(ObjectKind::message) {}
    ~Message() = default;
};

} // namespace patchbay
