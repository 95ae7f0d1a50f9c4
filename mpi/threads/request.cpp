// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/threads/request.h"

#include "mpi/threads/engine.h"

namespace patchbay::threads {

ThreadRequest::ThreadRequest(View& view, const Datatype& type) noexcept
    : view(view),
      _held_type(type) {
    belong_to(view.comm);
    progress = &view.engine.progress();
}

void ThreadRequest::hold() noexcept {
    _holding = true;
    view.engine.count_request(1);
    if (!_held_type.is_predefined()) {
        const_cast<Datatype&>(_held_type).retain();
    }
    if (!comm->is_predefined()) {
        comm->retain(false);
    }
}

int ThreadRequest::retire() noexcept {
    view.engine.count_request(-1);
    if (!_held_type.is_predefined()) {
        Ref<Datatype>::adopt(const_cast<Datatype*>(&_held_type)).reset();
    }
    Communicator* last = !comm->is_predefined() && comm->release(false) ? comm : nullptr;
    delete this;
    if (last != nullptr) {
        Communicator::destroy(last);
    }
    return MPI_SUCCESS;
}

int SendRequest::start() noexcept {
    error = MPI_SUCCESS;
    fill_empty_status(status);
    cancelled = false;
    set_active();
    view.engine.start(*this);
    return MPI_SUCCESS;
}

void SendRequest::end() noexcept {
    at_receiver = false;
    view.engine.end_cancelling(*this);
    if (cancelled) {
        set_status_cancelled(status, true);
    }
    complete();
}

void SendRequest::prepare_release() noexcept {
    freed = true;
    view.engine.count_freed_send(1);
}

int SendRequest::retire() noexcept {
    if (freed) {
        view.engine.count_freed_send(-1);
    }
    return ThreadRequest::retire();
}

int SendRequest::cancel() noexcept {
    view.engine.cancel(*this);
    return MPI_SUCCESS;
}

bool SendRequest::bound(pml::PersistentRequest* what) const noexcept {
    *what = {const_cast<void*>(message.buffer), message.count, &message.type, message.dest, message.tag, message.mode};
    return persistent;
}

int RecvRequest::start() noexcept {
    error = MPI_SUCCESS;
    set_status_cancelled(status, false);
    set_active();
    view.engine.start(*this);
    return MPI_SUCCESS;
}

int RecvRequest::cancel() noexcept {
    view.engine.cancel(*this);
    return MPI_SUCCESS;
}

bool RecvRequest::bound(pml::PersistentRequest* what) const noexcept {
    *what = {buffer, count, &type, source, tag, std::nullopt};
    return persistent;
}

MatchedMessage::MatchedMessage(View& view, Unexpected& unexpected) noexcept
    : view(view),
      unexpected(unexpected) {
    comm = &view.comm;
}

} // namespace patchbay::threads
