// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/module.h"
#include "core/log.h"

namespace patchbay::pml::ob1 {

using btl::SendCode;

int Ob1::send(const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag, SendMode mode,
    Communicator& comm) noexcept {
    CommState& state = state_of(comm);
    if (mode != SendMode::synchronous && type.dense) [[likely]] {
        Guard guard(*this);
        RankState* target = state.find_rank(dest);
        const std::size_t bytes = std::size_t(count) * std::size_t(type.size);
        if (SendProtocol::goes_direct(target, bytes)) [[likely]] {
            const void* from = static_cast<const std::byte*>(buffer) + type.true_lower_bound;
            if (SendProtocol::send_direct(*target, tag, 0, from, bytes) == SendCode::ok) [[likely]] {
                return MPI_SUCCESS;
            }
        } else if (SendProtocol::goes_direct_extended(target, bytes)) {
            const void* from = static_cast<const std::byte*>(buffer) + type.true_lower_bound;
            if (_handshake.send_direct(*target, *state.excid, tag, 0, from, bytes) == SendCode::ok) {
                return MPI_SUCCESS;
            }
        }
    }
    return send_by_request(buffer, count, type, dest, tag, mode, comm);
}

int Ob1::send_by_request(const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag, SendMode mode,
    Communicator& comm) noexcept {
    SendRequest request(*this, buffer, count, type, dest, tag, mode, comm);
    {
        Guard guard(*this);
        _sends.start(request);
        if (!request.is_complete() && _progress.threaded()) { // another thread may free the communicator meanwhile
            request.hold();
        }
    }
    wait_until(_progress, [&request] { return request.is_complete(); });
    request.let_go();
    return request.error;
}

// The path of most messages: one thread, and a request that need not be constructed. Everything else is left to
// isend_in_full().
int Ob1::isend(const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag, SendMode mode,
    Communicator& comm, Request** request) noexcept {
    if (!_alone.enter()) [[unlikely]] {
        return isend_in_full(buffer, count, type, dest, tag, mode, comm, request);
    }
    SendRequest* made = _sends.clean();
    const RankState* target = state_of(comm).find_rank(dest);
    if (made != nullptr && mode != SendMode::synchronous && target != nullptr && type.dense) [[likely]] {
        Peer* const peer = target->peer;
        const std::size_t bytes = std::size_t(count) * std::size_t(type.size);
        if (peer != nullptr && bytes < peer->direct_below) [[likely]] {
            const void* from = static_cast<const std::byte*>(buffer) + type.true_lower_bound;
            _sends.take_clean();
            *request = made;
            made->reuse({target->match_word, MatchWords::make_second(tag, _sends.next_id())}, *peer, buffer, count,
                type, dest, comm);
            const MatchWords& header = made->words;
            if (peer->btl->send(*peer->endpoint, &header, sizeof header, from, bytes) != SendCode::ok) [[unlikely]] {
                start_later(*made);
            }
            _alone.leave();
            return MPI_SUCCESS;
        }
    }
    _alone.leave();
    return isend_in_full(buffer, count, type, dest, tag, mode, comm, request);
}

// There was no room for it. The module is locked.
void Ob1::start_later(SendRequest& request) noexcept {
    request.end_clean();
    request.bytes = std::size_t(request.count) * std::size_t(request.type->size);
    request.hold();
    _sends.start(request);
}

int Ob1::isend_in_full(const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag, SendMode mode,
    Communicator& comm, Request** request) noexcept {
    Guard guard(*this);
    auto* made = _sends.make(*this, buffer, count, type, dest, tag, mode, comm);
    if (made == nullptr) {
        log_error("pml/ob1: out of memory for a send request");
        return MPI_ERR_NO_MEM;
    }
    made->id = _sends.next_id();
    *request = made;
    CommState& state = state_of(comm);
    if (mode != SendMode::synchronous && type.dense) {
        RankState* target = state.find_rank(dest);
        if (SendProtocol::goes_direct(target, made->bytes)) {
            if (SendProtocol::send_direct(*target, tag, made->id, made->address(), made->bytes) == SendCode::ok) {
                made->reuse({target->match_word, MatchWords::make_second(tag, made->id)}, *target->peer, buffer, count,
                    type, dest, comm);
                made->clean = true;
                if (_progress.threaded()) { // only the path of one thread uses it again
                    made->end_clean();
                }
                made->set_complete();
                return MPI_SUCCESS;
            }
        } else if (SendProtocol::goes_direct_extended(target, made->bytes)) {
            made->peer = target->handshake_peer; // the send may set it to nullptr
            made->extended = !_handshake.is_pending(*target);
            if (_handshake.send_direct(*target, *state.excid, tag, made->id, made->address(), made->bytes) ==
                SendCode::ok) {
                made->index = comm.index;
                made->excid = *state.excid;
                made->set_complete();
                return MPI_SUCCESS;
            }
        }
    }
    made->hold();
    _sends.start(*made);
    return MPI_SUCCESS;
}

int Ob1::send_init(const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag, SendMode mode,
    Communicator& comm, Request** request) noexcept {
    Guard guard(*this);
    auto* made = _sends.make(*this, buffer, count, type, dest, tag, mode, comm);
    if (made == nullptr) {
        log_error("pml/ob1: out of memory for a send request");
        return MPI_ERR_NO_MEM;
    }
    made->persistent = true;
    made->hold();
    *request = made;
    return MPI_SUCCESS;
}

int Ob1::restart(SendRequest& request) noexcept {
    if (!_alone.enter()) [[unlikely]] {
        return restart_in_full(request);
    }
    const RankState* target = request.direct;
    const Peer* const peer = target != nullptr ? target->peer : nullptr; // nullptr, too, after a refusal
    const std::size_t bytes = request.bytes;
    if (peer != nullptr && bytes < peer->direct_below) [[likely]] {
        const std::uint32_t id = _sends.next_id();
        request.id = id;
        const MatchWords header{target->match_word, MatchWords::make_second(request.tag, id)};
        if (peer->btl->send(*peer->endpoint, &header, sizeof header, request.data, bytes) == SendCode::ok) [[likely]] {
            request.set_complete();
            _alone.leave();
            return MPI_SUCCESS;
        }
    }
    _alone.leave();
    return restart_in_full(request);
}

int Ob1::restart_in_full(SendRequest& request) noexcept {
    Guard guard(*this);
    request.direct = nullptr;
    request.error = MPI_SUCCESS;
    set_status_cancelled(request.status, false);
    request.remote_request = 0;
    request.complete_but_for_cancel = false;
    request.id = _sends.next_id();
    _sends.start(request);
    if (request.mode != SendMode::synchronous && request.type->dense && request.is_complete() && !request.extended &&
        request.error == MPI_SUCCESS) {
        request.direct = state_of(*request.comm).find_rank(request.dest);
        request.data = request.address();
    }
    return MPI_SUCCESS;
}

int Ob1::cancel(SendRequest& request) noexcept {
    Guard guard(*this);
    request.end_clean();
    request.direct = nullptr;
    // A complete send has no references. Where the program has freed the communicator, the receiver is likely to have
    // ended, and not to answer; its job may have been forgotten.
    if (request.is_complete() && !(_matching.has_handle(*request.comm) && _peers.has(request.peer))) {
        return MPI_SUCCESS;
    }
    const int code = _sends.cancel(request);
    if (request.is_complete()) {
        _progress.wake();
    }
    return code;
}

} // namespace patchbay::pml::ob1
