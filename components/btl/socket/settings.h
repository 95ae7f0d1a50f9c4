// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "core/param/registry.h"
#include "core/param/spec.h"

#include <chrono>
#include <cstddef>

namespace patchbay::btl::socket {

inline constexpr ParamSpec params[] = {
    {"eager_limit", ParamType::size, "16KiB",
        "bytes up to which a message is sent whole, before it is known to match; at most btl_socket_packet_size",
        nullptr, ParamLevel::tuner_basic, ParamScope::local},
    {"packet_size", ParamType::size, "32KiB", "bytes of payload that one packet carries at most", "1KiB..64KiB",
        ParamLevel::tuner_basic, ParamScope::local},
    {"buffer", ParamType::size, "416KiB",
        "bytes that the kernel buffers for one receiver of this process; the limit of the system is net.core.wmem_max",
        nullptr, ParamLevel::tuner_basic, ParamScope::local},
    {"failure_wait", ParamType::duration, "5s",
        "how long a send to a process whose connection has ended waits, so that the launcher can report that the "
        "process has failed, before the send fails",
        nullptr, ParamLevel::tuner_detail, ParamScope::local},
    {"shortage_wait", ParamType::duration, "5s",
        "how long a process that has no descriptor or no memory for a connection tries again, before the peer counts "
        "as unreachable, or the job ends because the peer waits",
        nullptr, ParamLevel::tuner_detail, ParamScope::local},
};

// Every process takes packets of this size, so that processes with other parameters can send to it.
inline constexpr std::size_t largest_packet = 64 * 1024;

struct Settings {
    std::size_t eager_limit = 16 * 1024;
    std::size_t packet_size = 32 * 1024;
    std::size_t buffer = 416 * 1024;
    std::chrono::nanoseconds failure_wait = std::chrono::seconds(5);
    std::chrono::nanoseconds shortage_wait = std::chrono::seconds(5);

    // Errc::invalid names the parameter, its value and what is allowed.
    static Result<Settings> read(const ParamRegistry& registry);
};

} // namespace patchbay::btl::socket
