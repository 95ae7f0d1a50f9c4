// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/btl/socket/wire.h"
#include "components/common/failed_attempts.h"
#include "frameworks/btl/btl.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace patchbay::btl::socket {

// A peer. It exists from the first contact in either direction; each direction has a connection of its own, which the
// sender opens.
class SocketEndpoint final : public Endpoint {
public:
    explicit SocketEndpoint(ProcessId process) noexcept
        : Endpoint(process) {}

    // Of the connection to it.
    enum class State : std::uint8_t {
        none,       // connect() has not been called
        asking,     // its address is not known yet
        connecting, // it has more connections to accept than the system lets wait, or there is no descriptor
        open,
        full, // open, and the kernel's buffer was full; the epoll set says when there is room
        failed,
    } state = State::none;
    bool has_reported = false; // its failure
    bool sends_to_us = false;  // its connection has been accepted; there is but one
    int fd = -1;
    Address address;                    // if known
    std::unique_ptr<std::byte[]> stage; // for reserve(), made when it is first needed
    std::string problem;                // of a failed one
    std::chrono::steady_clock::time_point failed_at;
    FailedAttempts attempts; // to connect without a descriptor, or without memory
};

// A connection from a peer.
struct Inbound {
    int fd = -1;
    SocketEndpoint* from = nullptr; // nullptr: it has not said yet who it is
    // A packet that the receiver of the module had no memory for, in the buffer that it was read to.
    std::unique_ptr<std::byte[]> held;
};

} // namespace patchbay::btl::socket
