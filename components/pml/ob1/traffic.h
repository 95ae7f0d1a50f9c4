// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/tool/deferred_events.h"
#include "core/tool/source.h"

#include <cstddef>
#include <cstdint>

namespace patchbay::pml::ob1 {

// What the module counts, and the event that it raises, for tools (tool_source.h). Protected by the module's lock. The
// paths of most messages count nothing: while `counting` is set, no message takes them (Peer::counted), and packets
// come through another receiver.
struct Traffic {
    explicit Traffic(Progress& progress) noexcept
        : deferred(progress) {}

    bool counting = false;
    std::uint64_t messages_sent = 0; // these while counting
    std::uint64_t bytes_sent = 0;
    std::uint64_t messages_received = 0;
    std::uint64_t bytes_received = 0;
    std::uint64_t eager_sent = 0;
    std::uint64_t rendezvous_sent = 0; // these always
    std::uint64_t unexpected = 0;

    EventPoint unexpected_message;
    DeferredEvents deferred;

    void sent(bool eager, std::size_t bytes) noexcept {
        rendezvous_sent += eager ? 0 : 1;
        if (counting) {
            ++messages_sent;
            bytes_sent += bytes;
            eager_sent += eager ? 1 : 0;
        }
    }
};

} // namespace patchbay::pml::ob1
