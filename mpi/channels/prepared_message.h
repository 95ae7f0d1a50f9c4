// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/channels/small_messages.h"

#include <cstddef>

namespace patchbay {

// A message of the setup, whose request is made before it is needed, so that what is under way can go on where memory
// is short: a persistent request of the pml. Where the pml has no memory for the message itself, nothing has been
// transferred, and it is started again. Another message takes the place of one that has ended: its request is made from
// the memory of the former one, of which the pml keeps a list. All functions are called with the lock of Channels held.
class PreparedMessage {
public:
    class Owner {
    public:
        // In a poll, without the lock: the message that was followed has ended, or memory is short for it. The owner
        // calls start_again() or end(). Once for each follow(), start() or start_again().
        virtual void ended(PreparedMessage& message) noexcept = 0;

    protected:
        ~Owner() = default;
    };
    // The memory belongs to the message until it has ended.
    struct What {
        bool sends;
        void* data;
        std::size_t bytes;
        int peer;
        int tag;
        bool operator==(const What&) const = default;
    };

    PreparedMessage(Progress& waits, Communicator& comm, Owner& owner) noexcept
        : _comm(comm),
          _owner(owner),
          _next(waits, *this) {}
    ~PreparedMessage() { release(); }
    PreparedMessage(const PreparedMessage&) = delete;
    PreparedMessage& operator=(const PreparedMessage&) = delete;

    // Makes the request, if there is none for this message. MPI code.
    int prepare(const What& what) noexcept;
    // Releases the request of a message that is not under way.
    void release() noexcept;

    // Starts the message; follow() has to come next, with the same lock held. MPI_ERR_NO_MEM: memory is short for it,
    // and abandon() may come in place of follow(). After any other code the owner gets the error by follow().
    int launch(const What& what) noexcept;
    void follow() noexcept;
    // The same where another message follows: one that has ended well by now is not under way any more, and ended() is
    // not called.
    void follow_unless_ended() noexcept;
    // Ends at once what launch() has begun: a receive that nothing can have matched, or what lacks memory.
    void abandon() noexcept;
    void start(const What& what) noexcept {
        launch(what);
        follow();
    }

    // From launch() to end().
    bool is_under_way() const noexcept { return _state != State::idle; }
    // Whether a message that has ended is to be started again, because memory was short for it.
    bool lacks_memory() const noexcept { return !_cancelled && code() == MPI_ERR_NO_MEM; }
    void start_again(const What& what) noexcept;
    void start_again() noexcept { start_again(_what); }
    // Of one that has ended: its MPI code, and why.
    int code() const noexcept { return _state == State::started ? _request->error : _code; }
    std::string_view cause() const noexcept {
        return _state == State::started ? _request->cause() : std::string_view();
    }
    // Of a receive that has ended; nullptr: nothing has been received.
    const MPI_Status* received() const noexcept {
        return _state == State::started && code() == MPI_SUCCESS && !status_cancelled(_request->status)
            ? &_request->status
            : nullptr;
    }
    bool is_cancelled() const noexcept { return _cancelled; }
    void end() noexcept;

    // Of one that is under way: a receive for which nothing comes any more. It ends soon.
    void cancel() noexcept;

private:
    enum class State : std::uint8_t {
        idle,
        started,
        refused, // it could not be started, because of _code
    };

    void run() noexcept { _owner.ended(*this); }

    Communicator& _comm; // of the owner
    Owner& _owner;
    What _what{};
    Request* _request = nullptr;
    State _state = State::idle;
    bool _cancelled = false;
    int _code = MPI_SUCCESS;
    Following<PreparedMessage, &PreparedMessage::run> _next;
};

} // namespace patchbay
