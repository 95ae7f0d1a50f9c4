// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/payload_copy.h"
#include "core/param/spec.h"

#include <cstddef>
#include <cstdint>

namespace patchbay::chan::sm {

enum class SingleCopy : std::uint8_t { automatic, cma, none };
inline constexpr char single_copy_names[] = "auto,cma,none";  // in the order of SingleCopy
inline constexpr char store_names[] = "auto,cached,uncached"; // in the order of Stores

inline constexpr ParamSpec params[] = {
    {"priority", ParamType::integer, "60", "how much this component wants to serve a channel", "0..100"},
    {"ring_size", ParamType::size, "128KiB",
        "memory of a channel for messages of more than 504 bytes; shorter ones take as many chunks as the slackness "
        "needs",
        "..256MiB", ParamLevel::tuner_detail},
    {"chunk", ParamType::size, "8KiB", "longer messages go through the ring in chunks of this size", "1KiB..8MiB",
        ParamLevel::tuner_detail},
    {"direct_from", ParamType::size, "4KiB",
        "messages from this size on are written directly to a receive buffer that both processes have mapped "
        "(MPI_Alloc_mem), and no copy is made",
        nullptr, ParamLevel::tuner_basic},
    {"single_copy", ParamType::enumeration, "auto",
        "whether messages from chan_sm_copy_from bytes on are written to other receive buffers by the kernel (cma), "
        "where "
        "a btl offers that, or copied through the ring (none); auto: cma where processes share cores",
        single_copy_names, ParamLevel::user_basic},
    {"copy_from", ParamType::size, "16KiB", "the smallest message that chan_sm_single_copy=cma applies to", nullptr,
        ParamLevel::tuner_detail},
    {"stores", ParamType::enumeration, "auto",
        "how payloads of 2 KiB and more are written to the ring: by ordinary stores, past the cache, or by measurement",
        store_names, ParamLevel::tuner_detail},
    {"collective_limit", ParamType::size, "4KiB",
        "messages of persistent collectives up to this size are faster by a channel of this component than as messages "
        "of the pml (coll_channels=auto), where each process has a core of its own",
        nullptr, ParamLevel::tuner_detail},
    {"collective_limit_shared", ParamType::size, "1KiB",
        "the same where processes share cores: a sender of the pml leaves more messages behind before it has to wait",
        nullptr, ParamLevel::tuner_detail},
    {"long_from", ParamType::size, "32KiB",
        "messages of partitioned communication, and of persistent collectives without a reduction, are faster by a "
        "channel from this size on, where processes share cores and the receive buffer is mapped memory",
        nullptr, ParamLevel::tuner_detail},
};

struct Settings {
    int priority = 60;
    std::size_t ring_bytes = 0;
    std::size_t chunk_bytes = 0;
    std::size_t direct_from = 0;
    SingleCopy single_copy = SingleCopy::automatic;
    std::size_t copy_from = 0;
    Stores stores = Stores::automatic;
    std::size_t collective_limit = 0;
    std::size_t collective_limit_shared = 0;
    std::size_t long_from = 0;
};

} // namespace patchbay::chan::sm
