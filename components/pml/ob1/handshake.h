// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/pml/ob1/backlog.h"
#include "components/pml/ob1/comm_state.h"
#include "components/pml/ob1/requests.h"
#include "frameworks/cid/counters.h"

#include <utility>

namespace patchbay::pml::ob1 {

// The exCID handshake, for communicators whose index may differ from process to process. As long as a process does not
// know the index that a communicator has at a peer, its messages to that peer have the extended header, which holds the
// exCID and the sender's index. The peer sends its own index back, in a CID acknowledgement or by the flag same_index
// of a message. After that the ordinary match header is enough.
class Handshake {
public:
    Handshake(Progress& progress, Backlog& backlog, cid::Counters& counters) noexcept
        : _progress(progress),
          _backlog(backlog),
          _counters(counters) {}

    // The sending side.

    // Sets how messages to `rank`, which `peer` (connected) is, are addressed.
    void connect(CommState& state, int rank, Peer& peer) noexcept;
    // Before the handshake is complete: an eager message that needs no request. `peer` of the destination is nullptr.
    btl::SendCode send_direct(RankState& target, const cid::ExtendedId& excid, int tag, std::uint32_t id,
        const void* from, std::size_t bytes) noexcept {
        const Extended<MatchWords> header{{target.match_word, MatchWords::make_second(tag, id)}, excid};
        const bool acknowledges = is_pending(target);
        Peer& peer = *target.handshake_peer;
        const std::size_t header_size = acknowledges ? sizeof header.header : sizeof header;
        const btl::SendCode code = peer.btl->send(*peer.endpoint, &header, header_size, from, bytes);
        if (code == btl::SendCode::ok) [[likely]] {
            note_sent(target);
            if (!acknowledges && target.extended_sent % sends_per_poll == 0) [[unlikely]] {
                poll_for_ack(peer);
            }
        }
        return code;
    }
    // Fills in how the header identifies the communicator, and keeps it in the request for a cancel. Returns the size
    // of the header.
    template <class Header>
    std::size_t address(SendRequest& request, Extended<Header>& header) noexcept;
    // Does a message to that rank take part in the handshake? If so, note_sent() has to follow once it is sent.
    bool concerns(const RankState& target) const noexcept { return target.peer == nullptr || is_pending(target); }
    void note_sent(RankState& target) noexcept {
        if (is_pending(target)) {
            complete_ack();
            return;
        }
        target.index_sent = true;
        ++target.extended_sent;
        _counters.extended_headers.add_locked();
    }

    // The receiving side.

    // A message with an extended header has come.
    void on_extended(CommState& state, Peer& from, const MatchHeader& match) noexcept {
        RankState& sender = state.rank(match.source);
        if (!sender.extended_received) [[unlikely]] {
            sender.extended_received = true;
            on_first_extended(state, sender, from, match);
        } else if (is_pending(sender)) [[unlikely]] {
            acknowledge(); // the sender does not wait for a reply: each extended header saved is a gain for both
        }
    }
    void on_same_index(CommState& state, const MatchHeader& match) noexcept {
        _counters.acknowledgements.add_locked();
        learn(state, match.source, match.index);
    }
    // `state`: nullptr when the communicator has been freed.
    void on_ack(CommState* state, const CidAckHeader& ack) noexcept;

    // The pending acknowledgement: this process has to send its index to one rank, which knows the communicator by the
    // same index. It waits for the next message to that rank, at the longest until the end of the next poll.
    bool is_pending(const RankState& target) const noexcept { return _pending.to == &target; }
    bool has_pending() const noexcept { return _pending.to != nullptr; }
    bool has_pending(const Session* session) const noexcept {
        return _pending.to != nullptr && _pending.state->session == session;
    }
    void acknowledge() noexcept;
    // Called at the end of each poll while there is one. The first time is the poll in which the message came: the
    // program has not replied yet. Returns whether it still waits.
    bool wait_or_acknowledge() noexcept {
        if (!std::exchange(_pending.has_waited, true)) {
            return true;
        }
        acknowledge();
        return false;
    }
    // The communicator is freed: no message for it is in transit, so that its index is of no use to a peer.
    void forget(const CommState& state) noexcept {
        if (_pending.state == &state) {
            _pending = {};
        }
    }

private:
    struct PendingAck {
        RankState* to = nullptr; // nullptr: none is pending
        CommState* state = nullptr;
        Peer* peer = nullptr;
        bool has_waited = false; // for the end of a poll
    };
    static constexpr unsigned sends_per_poll = 8;

    void poll_for_ack(Peer& peer) noexcept;
    static bool find_index(CommState& state, int rank, RankState& target) noexcept;
    static void learn(CommState& state, int rank, std::uint16_t index) noexcept;
    void on_first_extended(CommState& state, RankState& sender, Peer& from, const MatchHeader& match) noexcept;
    void complete_ack() noexcept {
        RankState& target = *std::exchange(_pending, {}).to;
        target.index_sent = true;
        if (target.handshake_peer != nullptr) {
            target.match_word = MatchWords::without_flags(target.match_word);
            target.peer = std::exchange(target.handshake_peer, nullptr);
        }
    }

    Progress& _progress;
    Backlog& _backlog;
    cid::Counters& _counters;
    PendingAck _pending;
};

template <class Header>
std::size_t Handshake::address(SendRequest& request, Extended<Header>& header) noexcept {
    CommState& state = state_of(*request.comm);
    const RankState& target = state.rank(request.dest);
    auto& match = reinterpret_cast<MatchHeader&>(header);
    const bool acknowledges = is_pending(target);
    request.extended = target.peer == nullptr && !acknowledges;
    request.index = request.extended ? state.comm.index : target.index;
    match.index = request.index;
    if (!request.extended) {
        match.flags = acknowledges ? same_index : 0;
        return sizeof(Header);
    }
    match.flags = extended;
    header.id = request.excid = *state.excid;
    return sizeof header;
}

} // namespace patchbay::pml::ob1
