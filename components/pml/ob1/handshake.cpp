// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/handshake.h"

#include "frameworks/cid/cid.h"

#include <optional>

namespace patchbay::pml::ob1 {

void Handshake::connect(CommState& state, int rank, Peer& peer) noexcept {
    RankState& target = state.rank(rank);
    if (is_pending(target)) {
        target.handshake_peer = &peer; // its match word is set: see on_first_extended()
    } else if (find_index(state, rank, target)) {
        target.peer = &peer;
    } else {
        target.handshake_peer = &peer;
        target.match_word = MatchWords::make_first(state.comm.index, state.comm.rank, extended);
    }
}

// Sets the index that the communicator has at `rank`, if it is known.
bool Handshake::find_index(CommState& state, int rank, RankState& target) noexcept {
    std::optional<std::uint16_t> index = state.comm.index;
    if (state.comm.id != nullptr) {
        index = state.comm.id->peer_index(rank);
    }
    if (!index) {
        return false;
    }
    target.index = *index;
    target.match_word = MatchWords::make_first(*index, state.comm.rank);
    return true;
}

void Handshake::learn(CommState& state, int rank, std::uint16_t index) noexcept {
    RankState& target = state.rank(rank);
    if (target.peer != nullptr) {
        return;
    }
    state.comm.id->learned(rank, index);
    target.index = index;
    target.match_word = MatchWords::make_first(index, state.comm.rank);
    target.peer = std::exchange(target.handshake_peer, nullptr);
}

// The sender's index is known now. The sender gets ours unless it has it already. If both are the same, the next
// message to the sender, which is often the reply, acknowledges by its flag.
void Handshake::on_first_extended(CommState& state, RankState& sender, Peer& from, const MatchHeader& match) noexcept {
    if (sender.index_sent) {
        learn(state, match.source, match.index);
        return;
    }
    if (has_pending()) [[unlikely]] {
        acknowledge();
    }
    state.comm.id->learned(match.source, match.index);
    _pending = {&sender, &state, &from};
    _backlog.mark_work();
    sender.index = match.index;
    sender.match_word = MatchWords::make_first(match.index, state.comm.rank, same_index);
    sender.handshake_peer = from.endpoint == nullptr ? nullptr : &from; // so that the reply need not look it up
    if (match.index != state.comm.index) {
        acknowledge();
    }
}

// Sends the pending acknowledgement as a packet of its own.
void Handshake::acknowledge() noexcept {
    const PendingAck ack = _pending;
    complete_ack();
    const CommState& state = *ack.state;
    const CidAckHeader header{PacketType::cid_ack, 0, state.comm.index, state.comm.rank, *state.excid};
    // Without it the peer goes on with extended headers.
    static_cast<void>(_backlog.send_control(*ack.peer, &header, sizeof header, state.session));
}

// A process that sends message after message does not poll, and so would not receive the acknowledgement.
void Handshake::poll_for_ack(Peer& peer) noexcept {
    if (peer.btl->poll() > 0 && _progress.threaded()) {
        _progress.wake(); // a packet may have completed a request that another thread waits for
    }
}

void Handshake::on_ack(CommState* state, const CidAckHeader& ack) noexcept {
    if (state == nullptr || !state->prepare() || std::uint32_t(ack.source) >= std::uint32_t(state->comm.remote_size)) {
        return;
    }
    _counters.acknowledgements.add_locked();
    learn(*state, ack.source, ack.index);
}

} // namespace patchbay::pml::ob1
