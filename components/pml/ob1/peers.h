// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/pml/ob1/peer.h"
#include "components/pml/ob1/shortage.h"
#include "core/lifetime/lease.h"
#include "core/progress/progress.h"

#include <map>
#include <memory>
#include <vector>

namespace patchbay::pml::ob1 {

// The btls, and one Peer for each process that packets were exchanged with. A process is connected when the first
// packet to it is sent, by the fastest btl that reaches it.
class Peers {
public:
    // `poll`, with `context`, is registered as a poller as soon as a btl needs one.
    Peers(Progress& progress, Shortage& shortage, ProcessId self, std::vector<std::unique_ptr<btl::Module>> btls,
        Lease btl_lease, PollFunction poll, void* context);

    // Throws std::bad_alloc. Called once, before everything else.
    void receive_with(btl::Receiver receiver, void* context);

    // Whether no message may be sent past SendProtocol::transmit(), and what receives packets from now on.
    void count_messages(bool on, btl::Receiver receiver, void* context) noexcept;

    // nullptr: out of memory.
    Peer* find(ProcessId process) noexcept;
    // Called for each packet from there, before sender(). false: out of memory; the packet has to be delivered again.
    bool know_sender(btl::Endpoint& endpoint) noexcept { return endpoint.user != nullptr || make_sender(endpoint); }
    static Peer& sender(btl::Endpoint& endpoint) noexcept { return *static_cast<Peer*>(endpoint.user); }

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

    // false: impossible, because the process has failed, or for a reason that has been reported.
    bool connect(Peer& peer) noexcept { return peer.endpoint != nullptr || connect_first(peer); }

    // A packet that a process sends to itself arrives in a poll: threads that sleep must wake up for it.
    void wake_if_self(const Peer& peer) noexcept {
        if (peer.is_self && _progress.threaded()) {
            _progress.wake();
        }
    }

    int poll() noexcept {
        int events = 0;
        // A receiver may connect and thereby append a module.
        for (std::size_t i = 0; i < _polled.size(); ++i) {
            events += _polled[i]->poll();
        }
        return events;
    }
    // After it no poll runs and none begins.
    void stop_polling() noexcept;

    template <class Action>
    void for_each(const Action& action) noexcept {
        for (auto& [process, peer] : _peers) {
            action(peer);
        }
    }

private:
    bool make_sender(btl::Endpoint& endpoint) noexcept;
    bool connect_first(Peer& peer) noexcept;
    btl::Module* fastest_btl(ProcessId process) const noexcept;
    void report_unreachable(ProcessId process) const noexcept;
    bool need_poll(btl::Module& btl) noexcept;

    Progress& _progress;
    Shortage& _shortage;
    const ProcessId _self;
    const PollFunction _poll;
    void* const _poll_context;
    Lease _btl_lease; // declared before the modules: released after they are destroyed
    std::vector<std::unique_ptr<btl::Module>> _btls;
    std::vector<btl::Module*> _polled; // has room for all of them
    PollerHandle _poller;
    bool _any_failed = false;
    bool _counting = false;
    std::map<ProcessId, Peer> _peers;
};

} // namespace patchbay::pml::ob1
