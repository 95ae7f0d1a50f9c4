// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/pml/ob1/peer.h"
#include "components/pml/ob1/shortage.h"
#include "core/progress/progress.h"
#include "frameworks/btl/transports.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>

namespace patchbay::pml::ob1 {

inline constexpr auto consumer = btl::ConsumerId::pml;

// One Peer for each process that packets were exchanged with. A process is connected when the first packet to it is
// sent, by the best way that the transports have to it.
class Peers {
public:
    Peers(Shortage& shortage, ProcessId self, btl::Transports& transports) noexcept
        : _shortage(shortage),
          _self(self),
          _transports(transports) {}

    // Whether no message may be sent past SendProtocol::transmit(), and what receives packets from now on.
    void count_messages(bool on, btl::Receiver receiver) noexcept;

    // There is something for Ob1::work() to do at the end of a poll.
    void mark_work() noexcept { _transports.mark(consumer); }

    // nullptr: out of memory.
    Peer* find(ProcessId process) noexcept;
    // Called for each packet from there, before sender(). false: out of memory; the packet has to be delivered again.
    bool know_sender(btl::Endpoint& endpoint) noexcept { return user_of(endpoint) != nullptr || make_sender(endpoint); }
    static Peer& sender(btl::Endpoint& endpoint) noexcept { return *static_cast<Peer*>(user_of(endpoint)); }

    // Whether the failure of the process has been reported to this one.
    bool has_failed(ProcessId process) const noexcept {
        const auto peer = _any_failed ? _peers.find(process) : _peers.end();
        return peer != _peers.end() && peer->second.failed;
    }
    bool any_failed() const noexcept { return _any_failed; }
    void note_failed(Peer& peer) noexcept {
        _any_failed = true;
        peer.failed = true;
        peer.refresh_direct();
    }

    // false: impossible, because the process has failed, or no btl reaches it, which has been noted as the cause, or
    // for a reason that has been reported.
    bool connect(Peer& peer) noexcept { return peer.endpoint != nullptr || connect_first(peer); }
    // Notes the cause of MPI_ERR_OTHER: that no btl reaches the process. Returns it; empty: one does.
    std::string_view note_unreachable(ProcessId process) const noexcept;

    // Whether this process decides for both how large messages come that the two exchange. Processes of other jobs have
    // numbers that are not the same everywhere.
    bool leads(const Peer& peer) const noexcept {
        return peer.process.job == _self.job && _self.rank < peer.process.rank;
    }

    // Of processes that have ended, and are in no communicator. What is queued for them is dropped by Backlog.
    template <class Predicate>
    bool all_of(JobNumber job, const Predicate& predicate) {
        return std::ranges::all_of(
            _peers, [&](const auto& entry) { return entry.first.job != job || predicate(entry.second); });
    }
    template <class Action>
    void erase(JobNumber job, const Action& before) noexcept {
        for (auto entry = _peers.begin(); entry != _peers.end();) {
            if (entry->first.job == job) {
                before(entry->second);
                entry = _peers.erase(entry);
            } else {
                ++entry;
            }
        }
    }

    // Whether it may answer a packet, or has failed, which ends what waits for it.
    bool may_answer(const Peer& peer) const noexcept {
        return peer.btl == nullptr || peer.failed || peer.btl->may_answer(*peer.endpoint);
    }
    // Whether it has not been erased.
    bool has(const Peer* peer) const noexcept {
        return std::ranges::any_of(_peers, [peer](const auto& entry) { return &entry.second == peer; });
    }

    template <class Action>
    void for_each(const Action& action) noexcept {
        for (auto& [process, peer] : _peers) {
            action(peer);
        }
    }

private:
    static void*& user_of(btl::Endpoint& endpoint) noexcept { return endpoint.user[std::size_t(consumer)]; }
    bool make_sender(btl::Endpoint& endpoint) noexcept;
    bool connect_first(Peer& peer) noexcept;

    Shortage& _shortage;
    const ProcessId _self;
    btl::Transports& _transports;
    bool _any_failed = false;
    bool _counting = false;
    std::map<ProcessId, Peer> _peers;
};

} // namespace patchbay::pml::ob1
