// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/topologies/places.h"

#include <algorithm>
#include <numeric>

namespace patchbay {

namespace {

// The level of the NUMA node, whose number is an index of Place::latencies.
constexpr std::size_t numa_level = 2;

} // namespace

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
