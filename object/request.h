// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/communicator.h"
#include "object/handle.h"
#include "object/status.h"

#include <atomic>
#include <string_view>

namespace [[gnu::visibility("default")]] patchbay {

class Progress;

// One operation under way, or a persistent one waiting to be started. Whoever makes it (a pml, a collective, the
// generalized-request code) derives from it and owns its memory: `recycle` gives it back.
class Request : public Object {
public:
    enum class State : std::uint32_t { inactive, active, complete };

    bool is_complete() const noexcept { return _state.load(std::memory_order_acquire) == State::complete; }
    bool is_active() const noexcept { return _state.load(std::memory_order_relaxed) != State::inactive; }
    bool is_persistent() const noexcept { return persistent; }
    State state() const noexcept { return _state.load(std::memory_order_acquire); }
    void set_state(State state) noexcept { _state.store(state, std::memory_order_release); }

    // Persistent requests only: begin the operation again. Called with state inactive; sets it active (or complete).
    // Does not block. Returns an MPI code.
    virtual int start() noexcept = 0;
    // MPI_Cancel: mark for cancellation; the outcome is in the status at completion. Local, does not block.
    virtual int cancel() noexcept = 0;
    // The user is done with the handle: called once, for a completed or inactive request by the waiting side, for an
    // active one by MPI_Request_free (then the owner recycles it itself at completion).
    virtual void recycle() noexcept = 0;
    // What the completing calls and MPI_Request_free do: recycle(), and the MPI code of a callback of the program that
    // this ran.
    virtual int release() noexcept {
        recycle();
        return MPI_SUCCESS;
    }
    // Called by the completing calls (wait, test, get_status) after state complete and before the status is returned:
    // generalized requests run their query callback here. Returns the MPI code of the operation.
    virtual int finish(MPI_Status* status) noexcept {
        (void)status;
        return error;
    }

    // Why it failed, in words, where whoever made it keeps a text; valid once complete.
    virtual std::string_view cause() const noexcept { return {}; }

    MPI_Status status{};     // valid once complete
    int error = MPI_SUCCESS; // the operation's own code, valid once complete
    bool persistent = false;
    // Whose error handler errors go to; nullptr: the world's. Not owned: once the operation is complete without an
    // error, the communicator may be gone. So the request itself knows the session that it belongs to, of which nothing
    // but the address is to be used. (Not its mark: a request must have been completed when its session is finalized,
    // MPI-5.0, 11.3.1.) Set together, by belong_to().
    Communicator* comm = nullptr;
    Session* session = nullptr;   // nullptr: world model
    Progress* progress = nullptr; // what a wait for it polls. Set by the maker, never null once a user has the handle.

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

// A message taken out of the matching queues by a matched probe (MPI-5.0, 3.8.2); made and given back by a pml.
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
