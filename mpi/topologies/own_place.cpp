// SPDX-License-Identifier: BSD-3-Clause
#include "core/runtime/hw_resources.h"
#include "core/runtime/runtime.h"
#include "mpi/instance/instance.h"
#include "mpi/topologies/places.h"

#include <algorithm>

namespace patchbay {

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
    if (const auto node = hardware.confined_to("hwloc://NUMANode")) {
        const std::vector<std::uint64_t> latencies = hardware.numa_latencies(*node);
        for (std::size_t i = 0; i < latencies.size() && latencies.size() <= Place::most_numa_nodes; ++i) {
            place.latencies[i] = std::uint16_t(std::min<std::uint64_t>(latencies[i], UINT16_MAX));
        }
    }
    return place;
}

} // namespace patchbay
