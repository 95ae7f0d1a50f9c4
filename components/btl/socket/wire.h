// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/btl/socket/settings.h"
#include "core/base/result.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace patchbay::btl::socket {

// The sockets, and what is sent over them. All are AF_UNIX sockets of type SOCK_SEQPACKET: the kernel sends a packet
// whole or not at all and keeps its boundaries, so that no part of a packet is ever left in this process.

// Where a process accepts connections: a random name in the abstract namespace of this host, and a secret that a peer
// has to send. Any user of the host can list the names; the secret is published by the modex only.
struct Address {
    std::array<std::uint64_t, 2> name{};
    std::array<std::uint64_t, 2> secret{};

    bool is_set() const noexcept { return name[0] != 0 || name[1] != 0; }
    bool operator==(const Address&) const = default;
};

inline constexpr std::uint32_t protocol_version = 1;

// What a process publishes.
struct PublishedAddress {
    std::uint32_t version = protocol_version;
    std::uint32_t unused = 0;
    Address address;
};

// The first message on a connection.
struct Hello {
    std::uint32_t version = protocol_version;
    std::uint32_t rank = 0;                // of the sender, in its job
    std::array<std::uint64_t, 2> secret{}; // of the receiver
    std::uint64_t nonce = 0;               // of the sender's job
    Address sender;                        // so that the receiver can connect without the launcher
};

// Begins every other message; header and payload follow.
struct Prefix {
    std::uint32_t header_size = 0;
    std::uint32_t payload_size = 0;
};

inline constexpr std::size_t header_room = 64;
inline constexpr std::size_t largest_message = sizeof(Prefix) + header_room + largest_packet;

Address random_address() noexcept;

// A descriptor, or -1 with the cause in errno. All of them are non-blocking and closed by exec.
int listen_at(const Address& address) noexcept;
// EAGAIN: the listener has to accept other connections first. EACCES: the listener belongs to another user.
int connect_to(const Address& address, std::size_t buffer) noexcept;
// EAGAIN: there is none. EACCES: a process of another user had connected, and the connection is closed.
int accept_own(int listener) noexcept;

// Whether this is the first message of a process that knows the secret. Takes the same time whatever differs.
bool is_valid(const Hello& hello, const Address& own) noexcept;

} // namespace patchbay::btl::socket
