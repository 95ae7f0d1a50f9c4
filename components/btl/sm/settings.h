// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/btl/sm/ring.h"
#include "core/base/payload_copy.h"
#include "core/base/result.h"
#include "core/param/registry.h"
#include "core/param/spec.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace patchbay::btl::sm {

// The measurements behind the defaults stand in README.md.
inline constexpr ParamSpec params[] = {
    {"slots", ParamType::integer, "64", "messages of one sender that one receiver's ring holds, a power of two",
        "8..32768", ParamLevel::tuner_basic, ParamScope::all_equal},
    {"bulk_size", ParamType::size, "128KiB",
        "bytes of one sender's ring for payloads that do not fit into a slot, a power of two; a "
        "packet is at most a quarter of it (and 65535 bytes)",
        "4KiB..16MiB", ParamLevel::tuner_basic, ParamScope::all_equal},
    {"rings", ParamType::integer, "8",
        "receivers that one sender has a ring for: all of them, where they are no more; otherwise those "
        "to "
        "which it sends most, and the receive queue of a process takes the messages of all others",
        "0..16", ParamLevel::tuner_basic, ParamScope::all_equal},
    {"ring_after", ParamType::integer, "16",
        "packets through a receive queue after which the receiver gets a ring of its own, among at most eight times as "
        "many packets of this sender",
        "1..1000000", ParamLevel::tuner_detail, ParamScope::all_equal},
    {"queue_size", ParamType::size, "384KiB",
        "memory that one sender takes for payloads in receive queues, as long as receivers return it", nullptr,
        ParamLevel::tuner_basic, ParamScope::all_equal},
    {"eager_limit", ParamType::size, "16KiB",
        "bytes up to which a message is sent whole, before it is known to match; at most the size of a packet", nullptr,
        ParamLevel::tuner_basic, ParamScope::all_equal},
    {"get_limit", ParamType::size, "16KiB",
        "bytes from which a message that matched is fetched by single copy, where that works; with "
        "btl_sm_single_copy=auto a measurement may raise it",
        nullptr, ParamLevel::tuner_basic, ParamScope::all_equal},
    {"single_copy", ParamType::enumeration, "auto",
        "how large messages are fetched: cma (process_vm_readv; with a warning where the kernel refuses it), none "
        "(copied through shared memory), auto (cma where the kernel allows it and a measurement finds it the faster "
        "way)",
        "auto,cma,none", ParamLevel::user_basic, ParamScope::all_equal},
    {"stores", ParamType::enumeration, "auto",
        "how payloads of 2 KiB and more are written to shared memory: cached, uncached (past the cache, which is "
        "faster "
        "when the receiver's core shares no cache with the sender's), auto (timed, for each receiver)",
        "auto,cached,uncached", ParamLevel::tuner_basic, ParamScope::local},
};

enum class SingleCopy : std::uint8_t { automatic, cma, none };

struct Settings {
    RingShape shape{64, 128 * 1024};
    unsigned rings = 8;
    unsigned ring_after = 16;
    std::size_t queue_size = 384 * 1024;
    std::size_t eager_limit = 16384;
    std::size_t get_limit = 16384;
    SingleCopy single_copy = SingleCopy::automatic;
    Stores stores = Stores::automatic;
    std::uint32_t processes_per_core = 1; // of the own job on this node, rounded up; no parameter

    std::size_t packet() const noexcept { return std::min<std::size_t>(shape.largest_packet(), 65535); }
    // The `settings` of NodeSegment::region: the parameters that determine the layout.
    std::string layout_text() const;
    // Errc::invalid names the parameter, its value and what is allowed.
    static Result<Settings> read(const ParamRegistry& registry);
};

} // namespace patchbay::btl::sm
