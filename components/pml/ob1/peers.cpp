// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/peers.h"

#include "core/base/out_of_memory.h"
#include "object/error_cause.h"

#include <new>
#include <string>

namespace patchbay::pml::ob1 {

void Peers::count_messages(bool on, btl::Receiver receiver) noexcept {
    _counting = on;
    for_each([on](Peer& peer) {
        peer.counted = on;
        if (peer.endpoint != nullptr) {
            peer.refresh_direct();
        }
    });
    _transports.set_receiver(consumer, receiver);
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
    user_of(endpoint) = find(endpoint.process);
    if (user_of(endpoint) == nullptr) {
        _shortage.wait("pml/ob1: out of memory for the sender of a packet");
        return false;
    }
    _shortage.over();
    return true;
}

std::string_view Peers::note_unreachable(ProcessId process) const noexcept {
    const std::string text = unless_out_of_memory(std::string(), [&] { return _transports.unreachable_text(process); });
    return text.empty() ? std::string_view() : noted_cause(note_cause(MPI_ERR_OTHER, text));
}

bool Peers::connect_first(Peer& peer) noexcept {
    const btl::Way way = peer.failed ? btl::Way() : _transports.connect(peer.process);
    if (!way) {
        if (!peer.failed) {
            note_unreachable(peer.process);
        }
        return false;
    }
    peer.endpoint = way.endpoint;
    peer.btl = way.module;
    user_of(*way.endpoint) = &peer;
    peer.eager_limit = way.module->limits().eager;
    peer.refresh_direct();
    return true;
}

} // namespace patchbay::pml::ob1
