// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/btl/sm/cells.h"
#include "components/btl/sm/port.h"
#include "components/btl/sm/ring.h"
#include "core/base/payload_copy.h"
#include "core/memory/node_segment.h"
#include "frameworks/btl/btl.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace patchbay::btl::sm {

// A peer of this node. It exists from the first packet in either direction.
class SmEndpoint final : public Endpoint {
public:
    SmEndpoint(ProcessId process, std::uint32_t slot, RankControl& control, Port& port, Stores stores) noexcept
        : Endpoint(process),
          control(control),
          port(port),
          slot(slot),
          payload_copy(stores) {}

    // The ring towards it; closed: packets go through its receive queue.
    RingSender out;
    RankControl& control;
    Port& port;
    const std::uint32_t slot;
    PayloadCopy payload_copy;
    std::byte* staged_for = nullptr; // by reserve(), until commit(): the room for what is packed in the stage
    SharedAddress ring = 0;
    std::size_t bulk_committed = 0; // bytes of the bulk ring, from its start, that memory has been taken for
    // By reserve(), until commit(): room in the ring, which must not end or get a flush meanwhile.
    enum class Reserved : std::uint8_t { nothing, slot, bulk } reserved_in_ring = Reserved::nothing;

    // In its receive queue: cells that it has not returned, of both kinds.
    std::uint16_t cells_out = 0;
    std::uint16_t blocks_out = 0;
    std::uint32_t recent = 0; // packets through the queue in this window
    Cells::Taken reserved;    // the same in its queue

    // Whether the ring towards it is in use.
    std::uint32_t head_before = 0; // at the end of the last window
    std::uint8_t idle_windows = 0;
    std::optional<std::uint32_t> flushed; // position of the ring after the flush that precedes its end

    std::optional<bool> readable; // result of the probe, once made

    // Of one-sided operations, which hold no lock.
    static constexpr int unknown_access = -1;
    std::atomic<int> access{unknown_access}; // by CMA: 0, or why there is none
    std::atomic<bool> failed{false};         // the process has failed
};

} // namespace patchbay::btl::sm
