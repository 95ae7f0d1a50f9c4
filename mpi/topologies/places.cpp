// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/topologies/places.h"

#include "core/runtime/hw_resources.h"
#include "core/runtime/runtime.h"
#include "mpi/instance/instance.h"

#include <algorithm>
#include <numeric>

namespace patchbay {

namespace {

// The level of the NUMA node, whose number is an index of Place::latencies.
constexpr std::size_t numa_level = 2;
constexpr const char* numa_kind = "hwloc://NUMANode";

} // namespace

Place own_place(Instance& instance) {
    Place place;
    place.resources.fill(Place::unknown);
    place.latencies.fill(0);
    place.resources[0] = instance.runtime().local_peers().front(); // a rank that no other node has
    HwResources& hardware = instance.hw_resources();
    const auto kinds = HwResources::kinds();
    static_assert(Place::levels == 8);
    for (std::size_t i = 0; i < kinds.size() && i + 1 < Place::levels; ++i) {
        if (const auto resource = hardware.confined_to(kinds[i])) {
            place.resources[i + 1] = *resource;
        }
    }
    if (const auto node = hardware.confined_to(numa_kind)) {
        const std::vector<std::uint64_t> latencies = hardware.numa_latencies(*node);
        for (std::size_t i = 0; i < latencies.size() && latencies.size() <= Place::most_numa_nodes; ++i) {
            place.latencies[i] = std::uint16_t(std::min<std::uint64_t>(latencies[i], UINT16_MAX));
        }
    }
    return place;
}

std::int64_t distance(const Place& a, const Place& b) noexcept {
    std::size_t level = 0;
    while (level < Place::levels && a.resources[level] == b.resources[level]) {
        ++level;
    }
    if (level == Place::levels) {
        return 0;
    }
    // Large enough for the ratio of the latencies.
    const std::int64_t base = std::int64_t(64) << (Place::levels - 1 - level);
    const std::int64_t from = a.resources[numa_level];
    const std::int64_t to = b.resources[numa_level];
    const auto in_table = [](std::int64_t node) { return node >= 0 && node < std::int64_t(Place::most_numa_nodes); };
    if (level == 0 || from == to || !in_table(from) || !in_table(to)) {
        return base;
    }
    const std::int64_t local = a.latencies[std::size_t(from)];
    const std::int64_t remote = a.latencies[std::size_t(to)];
    return local > 0 && remote > local ? base * remote / local : base;
}

std::vector<int> sorted_by_hardware(const std::vector<Place>& places) {
    std::vector<int> order(places.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
        [&](int a, int b) { return places[std::size_t(a)].resources < places[std::size_t(b)].resources; });
    return order;
}

} // namespace patchbay
