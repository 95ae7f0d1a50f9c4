// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

class Instance;

// Where a process runs, in the format of the message.
struct Place {
    static constexpr std::size_t levels = 8;
    static constexpr std::size_t most_numa_nodes = 16;
    static constexpr std::int64_t unknown = -1;

    // The numbers of the hardware that the process is bound to, from the node down to the hardware thread; each is
    // unique within that of the level before. `unknown`: the process may run on several ones of that level.
    std::array<std::int64_t, levels> resources;
    // The latency of memory accesses from the own NUMA node to each one of this node, relative to each other, in the
    // order of the numbers of these. 0: not known.
    std::array<std::uint16_t, most_numa_nodes> latencies;

    bool operator==(const Place&) const = default;
};
static_assert(sizeof(Place) == (Place::levels + Place::most_numa_nodes / 4) * sizeof(std::int64_t));

Place own_place(Instance& instance);

// How far two processes are from each other: it doubles with each level of hardware that they do not share. Where their
// NUMA nodes differ, it also grows with the latency between these.
std::int64_t distance(const Place& a, const Place& b) noexcept;

// The processes in an order in which those that share hardware stand together.
std::vector<int> sorted_by_hardware(const std::vector<Place>& places);

} // namespace patchbay
