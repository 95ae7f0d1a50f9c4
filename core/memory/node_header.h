// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// The start of a node segment; private to node_*.cpp.
#include "core/memory/node_segment.h"

namespace patchbay {

// A region's record in the heap.
struct NodeSegment::Name {
    std::atomic<SharedAddress> next;
    SharedAddress block;
    std::uint64_t amount; // bytes that were asked for, in whole pages
    std::uint32_t of;
    std::uint32_t length;
    char name[32];
    char settings[128];
};

struct NodeSegment::Header {
    static constexpr std::size_t chains = 64;

    std::atomic<std::uint64_t> magic;
    std::uint32_t version;
    std::atomic<std::uint32_t> slots; // that have ever been allotted
    std::uint64_t id;
    RobustMutex mutex; // guards slots and names, each of whose changes is published by one store
    std::atomic<SharedAddress> names[chains];
    std::atomic<SharedAddress> tables[most_tables]; // of slots
    SharedHeap::Table heap;
    RankControl first_table[slots_per_table];
};

} // namespace patchbay
