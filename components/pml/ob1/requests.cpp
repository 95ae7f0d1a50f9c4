// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/requests.h"

#include "components/pml/ob1/module.h"

namespace patchbay::pml::ob1 {

Ob1Request::Ob1Request(Ob1& module, const void* buffer, MPI_Count count, const Datatype& type, int tag,
    Communicator& communicator) noexcept
    : module(module),
      buffer(const_cast<void*>(buffer)),
      count(count),
      type(&type),
      bytes(std::size_t(count) * std::size_t(type.size)),
      tag(tag) {
    belong_to(communicator);
    progress = &module.progress();
}

void Ob1Request::hold() noexcept {
    holding = true;
    if (!type->is_predefined()) {
        const_cast<Datatype*>(type)->retain();
    }
    if (!comm->is_predefined()) {
        comm->retain();
    }
}

void Ob1Request::let_go() noexcept {
    if (!holding) {
        return;
    }
    holding = false;
    if (!type->is_predefined()) {
        Ref<Datatype>::adopt(const_cast<Datatype*>(type)).reset();
    }
    if (!comm->is_predefined()) {
        Ref<Communicator>::adopt(comm).reset();
    }
}

int SendRequest::start() noexcept {
    return module.restart(*this);
}
int SendRequest::cancel() noexcept {
    return module.cancel(*this);
}
void SendRequest::recycle() noexcept {
    module.recycle(*this);
}

int RecvRequest::start() noexcept {
    return module.restart(*this);
}
int RecvRequest::cancel() noexcept {
    return module.cancel(*this);
}
void RecvRequest::recycle() noexcept {
    module.recycle(*this);
}

void Ob1::recycle(SendRequest& request) noexcept {
    {
        Guard guard(*this);
        if (request.state() == Request::State::active) {
            request.abandoned = true;
            return;
        }
    }
    request.let_go();
    Guard guard(*this);
    end(request); // an abandoned one
    _send_pool.free(&request);
}

void Ob1::recycle(RecvRequest& request) noexcept {
    {
        Guard guard(*this);
        if (request.state() == Request::State::active) {
            request.abandoned = true;
            return;
        }
    }
    request.let_go();
    Guard guard(*this);
    _recv_pool.free(&request);
}

// A receive is cancelled here or not at all. A send may be: when it waits in our own queue, or when its receiver, asked
// by a packet, finds it unmatched; the request is complete only when that answer has come.
int Ob1::cancel(RecvRequest& request) noexcept {
    Guard guard(*this);
    if (request.posted) {
        state_of(*request.comm).withdraw(request);
        fill_empty_status(request.status);
        set_status_cancelled(request.status, true);
        complete(request);
        _progress.wake();
    }
    return MPI_SUCCESS;
}

int Ob1::cancel(SendRequest& request) noexcept {
    Guard guard(*this);
    if (request.peer == nullptr || request.cancel_asked || request.remote_request != 0) {
        return MPI_SUCCESS;
    }
    if (request.queued) {
        withdraw_waiting(request);
        set_status_cancelled(request.status, true);
        finish(request, MPI_SUCCESS);
        _progress.wake();
        return MPI_SUCCESS;
    }
    if (request.is_complete()) {
        if (request.error != MPI_SUCCESS) {
            return MPI_SUCCESS;
        }
        request.done_but_for_answer = true;
        request.set_state(Request::State::active);
        begin(request);
    }
    request.cancel_asked = true;
    const std::uint8_t flags = request.by_excid ? named_by_excid : 0;
    const Extended<SyncHeader> header{
        {{PacketType::cancel, flags, request.index, request.source, request.tag, request.id},
            reinterpret_cast<std::uintptr_t>(&request)},
        request.excid};
    send_control(*request.peer, &header, request.by_excid ? sizeof header : sizeof header.header, request.session);
    return MPI_SUCCESS;
}

} // namespace patchbay::pml::ob1
