// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/send_protocol.h"

namespace patchbay::pml::ob1 {

using btl::SendCode;

int SendProtocol::connect(SendRequest& request) noexcept {
    CommState& state = state_of(*request.comm);
    if (!state.prepare()) {
        return state.error();
    }
    const RankState& target = state.rank(request.dest);
    if (target.peer == nullptr && target.handshake_peer == nullptr) {
        Peer* peer = _peers.find(state.comm.remote_group->process(request.dest));
        if (peer == nullptr) {
            return MPI_ERR_NO_MEM;
        }
        if (!_peers.connect(*peer)) {
            // A btl that reaches the process, and does not connect, has no memory (or no descriptor) for it.
            return peer->failed                                  ? MPI_ERR_PROC_ABORTED
                : _peers.note_unreachable(peer->process).empty() ? MPI_ERR_NO_MEM
                                                                 : MPI_ERR_OTHER;
        }
        _handshake.connect(state, request.dest, *peer);
    }
    request.peer = target.peer != nullptr ? target.peer : target.handshake_peer;
    return MPI_SUCCESS;
}

void SendProtocol::start(SendRequest& request) noexcept {
    request.set_active();
    begin(request);
    if (request.peer == nullptr) {
        const int connected = connect(request);
        if (connected != MPI_SUCCESS) {
            finish(request, connected);
            return;
        }
    }
    if (request.peer->failed) [[unlikely]] {
        finish(request, MPI_ERR_PROC_ABORTED);
        return;
    }
    const SendCode code = request.peer->queue.empty() ? transmit(request) : SendCode::full;
    if (code == SendCode::failed) {
        finish_failed(request);
    } else if (code == SendCode::no_memory) {
        finish(request, MPI_ERR_NO_MEM);
    } else if (code == SendCode::full && !_backlog.queue(request)) {
        finish(request, MPI_ERR_NO_MEM);
    }
}

SendCode SendProtocol::transmit(SendRequest& request) noexcept {
    Peer& peer = *request.peer;
    const bool eager = request.bytes <= peer.eager_limit && !peer.xoff_received;
    CommState& state = state_of(*request.comm);
    RankState& target = state.rank(request.dest);
    const bool in_handshake = _handshake.concerns(target);
    if (in_handshake && state.failure.happened()) [[unlikely]] {
        return SendCode::failed; // a persistent request knows its peer from an earlier start
    }
    const std::size_t bytes = request.bytes; // the request may not exist any more afterwards
    const SendCode code = eager ? transmit_eager(request) : _rendezvous.send_rts(request);
    if (code == SendCode::ok) {
        _traffic.sent(eager, bytes);
        if (in_handshake) {
            _handshake.note_sent(target);
        }
    }
    return code;
}

SendCode SendProtocol::transmit_eager(SendRequest& request) noexcept {
    if (request.mode != SendMode::synchronous) {
        Extended<MatchHeader> header{{PacketType::match, 0, 0, request.source, request.tag, request.id}, {}};
        const std::size_t header_size = _handshake.address(request, header);
        return transmit_eager(request, &header, header_size);
    }
    Extended<SyncHeader> header{{{PacketType::match_sync, 0, 0, request.source, request.tag, request.id},
                                    reinterpret_cast<std::uintptr_t>(&request)},
        {}};
    const std::size_t header_size = _handshake.address(request, header);
    return transmit_eager(request, &header, header_size);
}

SendCode SendProtocol::transmit_eager(SendRequest& request, const void* header, std::size_t header_size) noexcept {
    Peer& peer = *request.peer;
    SendCode code;
    if (request.type->dense || request.bytes == 0) {
        const void* from = request.bytes == 0 ? nullptr : request.address();
        code = peer.btl->send(*peer.endpoint, header, header_size, from, request.bytes);
    } else {
        const auto reservation = peer.btl->reserve(*peer.endpoint, header_size, request.bytes);
        code = reservation.code;
        if (code == SendCode::ok) {
            Convertor convertor(*request.type, request.count, request.buffer);
            convertor.pack(reservation.room.data(), request.bytes);
            code = peer.btl->commit(*peer.endpoint, header, header_size, request.bytes);
        }
    }
    if (code == SendCode::ok && request.mode != SendMode::synchronous) {
        finish(request, MPI_SUCCESS);
    }
    return code;
}

void SendProtocol::finish(SendRequest& request, int code) noexcept {
    request.error = code;
    if (request.cancel_pending) {
        request.complete_but_for_cancel = true;
        return;
    }
    end(request);
    if (request.complete()) {
        begin(request); // until it is retired, drain() waits for it
    }
}

void SendProtocol::finish_failed(SendRequest& request) noexcept {
    const Failure& failure = state_of(*request.comm).failure;
    finish(request, failure.happened() ? failure.code : MPI_ERR_OTHER);
}

void SendProtocol::fail_queued(const Communicator& comm, int code) noexcept {
    for (SendRequest* send = _in_progress.first(); send != nullptr;) {
        SendRequest* following = decltype(_in_progress)::next(*send);
        if (send->comm == &comm && send->queued) {
            _backlog.remove(*send);
            finish(*send, code);
        }
        send = following;
    }
}

// A send can be cancelled while it is in the queue of its peer, or when the receiver, asked by a packet, finds it
// unmatched. In the second case the request is complete only when the reply has come.
int SendProtocol::cancel(SendRequest& request) noexcept {
    if (request.peer == nullptr || request.peer->failed || request.cancel_pending || request.remote_request != 0) {
        return MPI_SUCCESS;
    }
    if (request.queued) {
        _backlog.remove(request);
        set_status_cancelled(request.status, true);
        finish(request, MPI_SUCCESS);
        return MPI_SUCCESS;
    }
    if (request.is_complete()) {
        if (request.error != MPI_SUCCESS) {
            return MPI_SUCCESS;
        }
        request.complete_but_for_cancel = true;
        request.uncount_complete();
        request.set_active();
        begin(request);
    }
    request.cancel_pending = true;
    request.cancel_number = ++_cancels;
    request.polls_without_answer = 0;
    ++_cancels_pending;
    _backlog.mark_work();
    const std::uint8_t flags = request.extended ? extended : 0;
    const Extended<SyncHeader> header{
        {{PacketType::cancel, flags, request.index, request.source, request.tag, request.id}, request.cancel_number},
        request.excid};
    const int code = _backlog.send_control(
        *request.peer, &header, request.extended ? sizeof header : sizeof header.header, request.session);
    if (code != MPI_SUCCESS) { // no reply will come
        end_cancel(request);
        if (std::exchange(request.complete_but_for_cancel, false)) {
            finish(request, request.error);
        }
    }
    return code;
}

// The request may have ended without the reply of a library, which the next one of its process gives.
void SendProtocol::on_cancel_reply(const ControlHeader& reply) noexcept {
    SendRequest* found = _in_progress.first();
    while (found != nullptr && !(found->cancel_pending && found->cancel_number == reply.request)) {
        found = decltype(_in_progress)::next(*found);
    }
    if (found == nullptr) {
        return;
    }
    SendRequest& request = *found;
    end_cancel(request);
    const auto outcome = CancelOutcome(reply.code);
    // A message that is lost may have been received before, but not where its sender waits for an answer to it.
    if (outcome == CancelOutcome::dropped || (outcome == CancelOutcome::lost && !request.complete_but_for_cancel)) {
        set_status_cancelled(request.status, true);
        finish(request, MPI_SUCCESS);
    } else if (request.complete_but_for_cancel) {
        finish(request, request.error);
    }
}

int SendProtocol::end_unanswered_cancels() noexcept {
    constexpr std::uint8_t enough = 8; // polls deliver a reply that the library has sent before its end
    int ended = 0;
    for_each([&](SendRequest& send) {
        if (!send.cancel_pending || !send.complete_but_for_cancel) {
            return;
        }
        const bool may_come = _peers.has(send.peer) && _peers.may_answer(*send.peer);
        send.polls_without_answer = may_come ? 0 : std::uint8_t(send.polls_without_answer + 1);
        if (send.polls_without_answer == enough) {
            end_cancel(send);
            finish(send, send.error);
            ++ended;
        }
    });
    return ended;
}

} // namespace patchbay::pml::ob1
