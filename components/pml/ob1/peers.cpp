// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/peers.h"

#include "core/log.h"

#include <algorithm>
#include <fmt/format.h>
#include <new>
#include <string>

namespace patchbay::pml::ob1 {

Peers::Peers(Progress& progress, Shortage& shortage, ProcessId self, std::vector<std::unique_ptr<btl::Module>> btls,
    Lease btl_lease, PollFunction poll, void* context)
    : _progress(progress),
      _shortage(shortage),
      _self(self),
      _poll(poll),
      _poll_context(context),
      _btl_lease(std::move(btl_lease)),
      _btls(std::move(btls)) {
    _polled.reserve(_btls.size());
}

void Peers::receive_with(btl::Receiver receiver, void* context) {
    for (const auto& btl : _btls) {
        btl->set_receiver(receiver, context);
        if (btl->limits().unsolicited && !need_poll(*btl)) {
            throw std::bad_alloc();
        }
    }
}

void Peers::count_messages(bool on, btl::Receiver receiver, void* context) noexcept {
    _counting = on;
    for_each([on](Peer& peer) {
        peer.counted = on;
        if (peer.endpoint != nullptr) {
            peer.refresh_direct();
        }
    });
    for (const auto& btl : _btls) {
        btl->set_receiver(receiver, context);
    }
}

void Peers::stop_polling() noexcept {
    _poller.reset();
    _progress.quiesce();
}

Peer* Peers::find(ProcessId process) noexcept {
    try {
        auto [found, fresh] = _peers.try_emplace(process);
        if (fresh) {
            found->second.process = process;
            found->second.counted = _counting;
        }
        return &found->second;
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

bool Peers::make_sender(btl::Endpoint& endpoint) noexcept {
    endpoint.user = find(endpoint.process);
    if (endpoint.user == nullptr) {
        _shortage.wait("pml/ob1: out of memory for the sender of a packet");
    } else {
        _shortage.over();
    }
    return endpoint.user != nullptr;
}

bool Peers::connect_first(Peer& peer) noexcept {
    if (peer.failed) {
        return false;
    }
    btl::Module* best = fastest_btl(peer.process);
    if (best == nullptr) {
        report_unreachable(peer.process);
        return false;
    }
    if (!need_poll(*best)) {
        return false;
    }
    btl::Endpoint* endpoint = best->connect(peer.process);
    if (endpoint == nullptr) {
        return false;
    }
    peer.endpoint = endpoint;
    peer.btl = best;
    endpoint->user = &peer;
    peer.eager_limit = best->limits().eager;
    peer.is_self = peer.process == _self;
    peer.refresh_direct();
    return true;
}

btl::Module* Peers::fastest_btl(ProcessId process) const noexcept {
    btl::Module* best = nullptr;
    for (const auto& btl : _btls) {
        if (btl->reaches(process) && (best == nullptr || btl->limits().latency_ns < best->limits().latency_ns)) {
            best = btl.get();
        }
    }
    return best;
}

void Peers::report_unreachable(ProcessId process) const noexcept {
    try {
        std::string names;
        for (const auto& btl : _btls) {
            names += names.empty() ? "" : ", ";
            names += btl->name();
        }
        log_error(fmt::format("pml/ob1: no btl in use ({}) reaches process {} of job {}; see the parameter btl and "
                              "mpirun --explain",
            names, process.rank, process.job));
    } catch (const std::bad_alloc&) {
        log_error("pml/ob1: no btl in use reaches a process; see the parameter btl and mpirun --explain");
    }
}

// false: out of memory, which has been reported.
bool Peers::need_poll(btl::Module& btl) noexcept {
    if (!_poller) {
        try {
            _poller = _progress.add_poller(_poll, _poll_context);
        } catch (const std::bad_alloc&) {
            log_error("pml/ob1: out of memory for a poller");
            return false;
        }
    }
    if (std::find(_polled.begin(), _polled.end(), &btl) == _polled.end()) {
        _polled.push_back(&btl);
    }
    return true;
}

} // namespace patchbay::pml::ob1
