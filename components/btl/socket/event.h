// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/btl/socket/endpoint.h"

#include <cstdint>

namespace patchbay::btl::socket {

// What a descriptor of the epoll set belongs to, as epoll_event keeps it: a pointer with a kind in its lowest bits.
struct Event {
    enum Kind : std::uint64_t { of_listener, of_inbound, of_endpoint, kinds };

    static std::uint64_t listener() noexcept { return of_listener; }
    static std::uint64_t inbound(const Inbound& inbound) noexcept { return word(&inbound) | of_inbound; }
    static std::uint64_t endpoint(const SocketEndpoint& endpoint) noexcept { return word(&endpoint) | of_endpoint; }

    static Kind kind(std::uint64_t what) noexcept { return Kind(what & mask); }
    static Inbound& inbound(std::uint64_t what) noexcept { return *reinterpret_cast<Inbound*>(what & ~mask); }
    static SocketEndpoint& endpoint(std::uint64_t what) noexcept {
        return *reinterpret_cast<SocketEndpoint*>(what & ~mask);
    }

private:
    static constexpr std::uint64_t mask = 3;
    static_assert(kinds <= mask + 1 && alignof(Inbound) > mask && alignof(SocketEndpoint) > mask);

    static std::uint64_t word(const void* object) noexcept { return reinterpret_cast<std::uintptr_t>(object); }
};

} // namespace patchbay::btl::socket
