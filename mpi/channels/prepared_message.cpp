// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/channels/prepared_message.h"

#include "frameworks/pml/pml.h"
#include "object/datatype.h"

#include <utility>

namespace patchbay {

int PreparedMessage::prepare(const What& what) noexcept {
    if (_request != nullptr && what == _what) {
        return MPI_SUCCESS;
    }
    release();
    _what = what;
    pml::Module& pml = *_comm.pml;
    const Datatype& bytes = *to_object<Datatype>(MPI_BYTE);
    const int code = what.sends
        ? pml.send_init(
              what.data, MPI_Count(what.bytes), bytes, what.peer, what.tag, pml::SendMode::standard, _comm, &_request)
        : pml.recv_init(what.data, MPI_Count(what.bytes), bytes, what.peer, what.tag, _comm, &_request);
    if (code != MPI_SUCCESS) {
        _request = nullptr;
    }
    return code;
}

void PreparedMessage::release() noexcept {
    if (Request* const request = std::exchange(_request, nullptr)) {
        request->recycle();
    }
}

int PreparedMessage::launch(const What& what) noexcept {
    _cancelled = false;
    _code = prepare(what);
    if (_code == MPI_SUCCESS) {
        _code = _request->start();
    }
    _state = _code == MPI_SUCCESS ? State::started : State::refused;
    const bool ended = _state == State::refused || _request->is_complete();
    return ended ? code() : MPI_SUCCESS;
}

void PreparedMessage::follow() noexcept {
    if (_state == State::started) {
        _next.follow(_request, nullptr);
    } else {
        _next.post();
    }
}

void PreparedMessage::follow_unless_ended() noexcept {
    if (_state == State::started && _request->is_complete() && _request->error == MPI_SUCCESS) {
        end();
    } else {
        follow();
    }
}

void PreparedMessage::abandon() noexcept {
    if (_state == State::started && !_request->is_complete()) {
        _request->cancel();
    }
    end();
}

void PreparedMessage::start_again(const What& what) noexcept {
    end();
    start(what);
}

void PreparedMessage::end() noexcept {
    if (_state == State::started) {
        _request->end_start();
    }
    _state = State::idle;
}

void PreparedMessage::cancel() noexcept {
    _cancelled = true;
    if (_state == State::started && !_request->is_complete()) {
        _request->cancel();
    }
}

} // namespace patchbay
