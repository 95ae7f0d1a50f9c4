// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/module.h"
#include "core/log.h"
#include "core/progress/waiter.h"

namespace patchbay::pml::ob1 {

namespace {

void describe(const Unexpected& message, MPI_Status* status) noexcept {
    if (status != nullptr) {
        fill_status(*status, message.match.source, message.match.tag, message.length);
    }
}

} // namespace

Unexpected* Ob1::look(CommState& state, int source, int tag) noexcept {
    return state.prepare() ? state.find(source, tag) : nullptr;
}

// Out of the queues and into a handle.
int Ob1::take(CommState& state, Unexpected& message, Message** out) noexcept {
    MatchedMessage* matched = _message_pool.alloc(state.comm, message);
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
    const auto try_once = [&] {
        Guard guard(*this);
        const Unexpected* message = look(state, source, tag);
        if (message != nullptr) {
            describe(*message, status);
        }
        return message != nullptr;
    };
    *found = try_once();
    if (!*found) {
        _progress.poll();
        *found = try_once();
    }
    return MPI_SUCCESS;
}

int Ob1::improbe(int source, int tag, Communicator& comm, bool* found, Message** message, MPI_Status* status) noexcept {
    CommState& state = state_of(comm);
    int code = MPI_SUCCESS;
    const auto try_once = [&] {
        Guard guard(*this);
        Unexpected* unexpected = look(state, source, tag);
        if (unexpected == nullptr) {
            return false;
        }
        describe(*unexpected, status);
        code = take(state, *unexpected, message);
        return code == MPI_SUCCESS;
    };
    *found = try_once();
    if (!*found && code == MPI_SUCCESS) {
        _progress.poll();
        *found = try_once();
    }
    return code;
}

int Ob1::probe(int source, int tag, Communicator& comm, MPI_Status* status) noexcept {
    CommState& state = state_of(comm);
    wait_until(_progress, [&] {
        Guard guard(*this);
        const Unexpected* message = look(state, source, tag);
        if (message != nullptr) {
            describe(*message, status);
        }
        return message != nullptr;
    });
    return MPI_SUCCESS;
}

int Ob1::mprobe(int source, int tag, Communicator& comm, Message** message, MPI_Status* status) noexcept {
    CommState& state = state_of(comm);
    int code = MPI_SUCCESS;
    bool taken = false; // a wait may ask again after it was told that it is over
    wait_until(_progress, [&] {
        if (taken) {
            return true;
        }
        Guard guard(*this);
        Unexpected* unexpected = look(state, source, tag);
        if (unexpected != nullptr) {
            describe(*unexpected, status);
            code = take(state, *unexpected, message);
            taken = true;
        }
        return taken;
    });
    return code;
}

} // namespace patchbay::pml::ob1
