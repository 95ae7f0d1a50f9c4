// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/module.h"
#include "core/log.h"
#include "core/progress/poll_or_yield.h"

namespace patchbay::pml::ob1 {

namespace {

// The unexpected message that such a receive would match, whose source, tag and length `status` then gets.
Unexpected* find(CommState& state, int source, int tag, MPI_Status* status) noexcept {
    Unexpected* message = state.prepare() ? state.find(source, tag) : nullptr;
    if (message != nullptr && status != nullptr) {
        fill_status(*status, message->match.source, message->match.tag, message->length);
    }
    return message;
}

} // namespace

// Tries with the lock held, and once more after a poll, unless that has changed nothing. With several threads another
// one may have polled.
template <class TryOnce>
bool Ob1::try_twice(const TryOnce& try_once) noexcept {
    const auto try_locked = [&] {
        Guard guard(*this);
        return try_once();
    };
    if (try_locked()) {
        return true;
    }
    const int events = poll_or_yield(_progress);
    return (events != 0 || _progress.threaded()) && try_locked();
}

// Why no message from there will come. Called with the lock held.
int Ob1::error_of(const CommState& state, int source) const noexcept {
    return state.failure.happened() ? state.failure.code : _receives.error_of(state, source);
}

// Moves the message from the queues into a handle.
int Ob1::take(CommState& state, Unexpected& message, Message** out) noexcept {
    MatchedMessage* matched = _matched_messages.alloc(state.comm, message);
    if (matched == nullptr) {
        log_error("pml/ob1: out of memory for a matched message");
        return MPI_ERR_NO_MEM;
    }
    state.remove(message);
    *out = matched;
    return MPI_SUCCESS;
}

int Ob1::iprobe(int source, int tag, Communicator& comm, bool* found, MPI_Status* status) noexcept {
    CommState& state = state_of(comm);
    int code = MPI_SUCCESS;
    *found = try_twice([&] {
        code = error_of(state, source);
        return find(state, source, tag, status) != nullptr;
    });
    return *found ? MPI_SUCCESS : code;
}

int Ob1::improbe(int source, int tag, Communicator& comm, bool* found, Message** message, MPI_Status* status) noexcept {
    CommState& state = state_of(comm);
    int code = MPI_SUCCESS;
    const bool matched = try_twice([&] {
        code = error_of(state, source);
        Unexpected* unexpected = find(state, source, tag, status);
        if (unexpected != nullptr) {
            code = take(state, *unexpected, message);
        }
        return unexpected != nullptr;
    });
    *found = matched && code == MPI_SUCCESS;
    return code;
}

int Ob1::probe(int source, int tag, Communicator& comm, MPI_Status* status) noexcept {
    CommState& state = state_of(comm);
    int code = MPI_SUCCESS;
    wait_with_lock([&] {
        const bool found = find(state, source, tag, status) != nullptr;
        code = found ? MPI_SUCCESS : error_of(state, source);
        return found || code != MPI_SUCCESS;
    });
    return code;
}

int Ob1::mprobe(int source, int tag, Communicator& comm, Message** message, MPI_Status* status) noexcept {
    CommState& state = state_of(comm);
    int code = MPI_SUCCESS;
    bool taken = false; // a wait may evaluate its condition again after it was true
    wait_with_lock([&] {
        if (taken) {
            return true;
        }
        Unexpected* unexpected = find(state, source, tag, status);
        if (unexpected != nullptr) {
            code = take(state, *unexpected, message);
            taken = true;
        } else {
            code = error_of(state, source);
        }
        return taken || code != MPI_SUCCESS;
    });
    return code;
}

} // namespace patchbay::pml::ob1
