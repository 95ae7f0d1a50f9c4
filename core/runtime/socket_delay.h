// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <set>

namespace [[gnu::visibility("default")]] patchbay {

// PMIx 4.2.2 leaves its TCP connections to Nagle's algorithm: a message that follows another one waits for its
// acknowledgement, which the other side delays for 40 ms when it has nothing to say. These set TCP_NODELAY on sockets
// of this process; what the kernel refuses stays as it was, only slower. Each returns how many it has set.

// The listening sockets; connections that they accept inherit the option.
int send_without_delay_where_listening() noexcept;
// Those connected to one of these ports.
int send_without_delay_to(const std::set<std::uint16_t>& ports) noexcept;
// The ports of the PMIx server in the environment's PMIX_SERVER_URI variables.
std::set<std::uint16_t> pmix_server_ports();

} // namespace patchbay
