// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/module.h"
#include "core/log.h"

namespace patchbay::pml::ob1 {

int Ob1::recv(void* buffer, MPI_Count count, const Datatype& type, int source, int tag, Communicator& comm,
    MPI_Status* status) noexcept {
    RecvRequest request(*this, buffer, count, type, source, tag, comm);
    if (_progress.threaded()) [[unlikely]] {
        return recv_beside_threads(request, status);
    }
    {
        Guard guard(*this);
        _receives.start(request);
    }
    wait_until(_progress, [&request] { return request.is_complete(); });
    return_status(request.status, status);
    return request.result();
}

// Another thread may free the communicator while this one waits.
int Ob1::recv_beside_threads(RecvRequest& request, MPI_Status* status) noexcept {
    {
        Guard guard(*this);
        _receives.start(request);
        if (!request.is_complete()) {
            request.hold();
        }
    }
    wait_until(_progress, [&request] { return request.is_complete(); });
    return_status(request.status, status);
    const int code = request.result();
    request.let_go();
    return code;
}

int Ob1::irecv(void* buffer, MPI_Count count, const Datatype& type, int source, int tag, Communicator& comm,
    Request** request) noexcept {
    Guard guard(*this);
    auto* made = _receives.make(*this, buffer, count, type, source, tag, comm);
    if (made == nullptr) {
        log_error("pml/ob1: out of memory for a receive request");
        return MPI_ERR_NO_MEM;
    }
    *request = made;
    _receives.start(*made);
    const bool complete = made->is_complete();
    if (!complete || made->error != MPI_SUCCESS) {
        made->hold();
    }
    if (complete) {
        made->count_complete();
    }
    return MPI_SUCCESS;
}

int Ob1::recv_init(void* buffer, MPI_Count count, const Datatype& type, int source, int tag, Communicator& comm,
    Request** request) noexcept {
    Guard guard(*this);
    auto* made = _receives.make(*this, buffer, count, type, source, tag, comm);
    if (made == nullptr) {
        log_error("pml/ob1: out of memory for a receive request");
        return MPI_ERR_NO_MEM;
    }
    made->persistent = true;
    made->hold();
    *request = made;
    return MPI_SUCCESS;
}

int Ob1::restart(RecvRequest& request) noexcept {
    Guard guard(*this);
    request.error = MPI_SUCCESS;
    set_status_cancelled(request.status, false);
    _receives.start(request);
    return MPI_SUCCESS;
}

int Ob1::mrecv(void* buffer, MPI_Count count, const Datatype& type, Message* message, MPI_Status* status) noexcept {
    auto* matched = static_cast<MatchedMessage*>(message);
    const MatchHeader match = matched->unexpected.match;
    RecvRequest request(*this, buffer, count, type, match.source, match.tag, *matched->comm);
    {
        Guard guard(*this);
        if (!_receives.can_accept(matched->unexpected)) {
            return MPI_ERR_NO_MEM;
        }
        request.set_active();
        _receives.accept(request, matched->unexpected);
        _matched_messages.free(matched);
    }
    wait_until(_progress, [&request] { return request.is_complete(); });
    return_status(request.status, status);
    return request.result();
}

int Ob1::imrecv(void* buffer, MPI_Count count, const Datatype& type, Message* message, Request** request) noexcept {
    auto* matched = static_cast<MatchedMessage*>(message);
    const MatchHeader match = matched->unexpected.match;
    Guard guard(*this);
    RecvRequest* made = _receives.can_accept(matched->unexpected)
        ? _receives.make(*this, buffer, count, type, match.source, match.tag, *matched->comm)
        : nullptr;
    if (made == nullptr) {
        log_error("pml/ob1: out of memory for a receive request");
        return MPI_ERR_NO_MEM;
    }
    made->hold();
    made->set_active();
    _receives.accept(*made, matched->unexpected);
    _matched_messages.free(matched);
    *request = made;
    return MPI_SUCCESS;
}

// A receive can be cancelled while it is posted.
int Ob1::cancel(RecvRequest& request) noexcept {
    Guard guard(*this);
    if (request.posted) {
        state_of(*request.comm).withdraw(request);
        fill_empty_status(request.status);
        set_status_cancelled(request.status, true);
        request.complete();
        _progress.wake();
    }
    return MPI_SUCCESS;
}

} // namespace patchbay::pml::ob1
