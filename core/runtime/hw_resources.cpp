// SPDX-License-Identifier: BSD-3-Clause
#include "core/runtime/hw_resources.h"

#include <algorithm>
#include <hwloc.h>
#include <hwloc/distances.h>

namespace patchbay {

namespace {

constexpr std::string_view prefix = "hwloc://";
constexpr std::string_view node_kinds[] = {HwResources::node_kind, "Machine"};

constexpr std::string_view known_kinds[] = {
    "hwloc://Package",
    "hwloc://NUMANode",
    "hwloc://L3Cache",
    "hwloc://L2Cache",
    "hwloc://L1Cache",
    "hwloc://Core",
    "hwloc://PU",
};

std::string_view without_prefix(std::string_view kind) noexcept {
    return kind.starts_with(prefix) ? kind.substr(prefix.size()) : kind;
}

bool is_node(std::string_view kind) noexcept {
    return std::find(std::begin(node_kinds), std::end(node_kinds), without_prefix(kind)) != std::end(node_kinds);
}

std::optional<hwloc_obj_type_t> type_of(std::string_view kind) {
    hwloc_obj_type_t type;
    const std::string name(without_prefix(kind));
    return hwloc_type_sscanf(name.c_str(), &type, nullptr, 0) == 0 ? std::optional(type) : std::nullopt;
}

} // namespace

struct HwResources::Topology {
    hwloc_topology_t hwloc = nullptr;
    hwloc_cpuset_t binding = hwloc_bitmap_alloc();
    bool usable = false;

    Topology() {
        // The topology includes resources that a cgroup forbids to this process, because numbers and counts must be the
        // same in all processes of the node.
        usable = hwloc_topology_init(&hwloc) == 0 &&
            hwloc_topology_set_flags(hwloc, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) == 0 &&
            hwloc_topology_load(hwloc) == 0 && hwloc_get_cpubind(hwloc, binding, HWLOC_CPUBIND_PROCESS) == 0;
    }
    ~Topology() {
        hwloc_bitmap_free(binding);
        if (hwloc != nullptr) {
            hwloc_topology_destroy(hwloc);
        }
    }
};

HwResources::HwResources() = default;
HwResources::~HwResources() = default;

std::span<const std::string_view> HwResources::kinds() noexcept {
    return known_kinds;
}

bool HwResources::knows(std::string_view kind) noexcept {
    return is_node(kind) || type_of(kind).has_value();
}

HwResources::Topology* HwResources::topology() {
    std::lock_guard lock(_mutex);
    if (_topology == nullptr) {
        _topology = std::make_unique<Topology>();
    }
    return _topology->usable ? _topology.get() : nullptr; // does not change from here on
}

std::optional<HwResources::Resource> HwResources::find_confined_to(std::string_view kind) {
    if (is_node(kind)) {
        return Resource{0, 0};
    }
    const auto type = type_of(kind);
    const Topology* machine = type ? topology() : nullptr;
    if (machine == nullptr) {
        return std::nullopt;
    }
    hwloc_obj_t object = nullptr;
    while ((object = hwloc_get_next_obj_by_type(machine->hwloc, *type, object)) != nullptr) {
        if (object->cpuset != nullptr && hwloc_bitmap_isincluded(machine->binding, object->cpuset)) {
            return Resource{object->logical_index, object->os_index};
        }
    }
    return std::nullopt;
}

std::optional<std::uint32_t> HwResources::confined_to(std::string_view kind) {
    const auto resource = find_confined_to(kind);
    return resource ? std::optional(resource->logical) : std::nullopt;
}

std::optional<std::uint32_t> HwResources::number_of_confined_to(std::string_view kind) {
    const auto resource = find_confined_to(kind);
    return resource ? std::optional(resource->physical) : std::nullopt;
}

std::uint32_t HwResources::count(std::string_view kind) {
    const auto type = type_of(kind);
    const Topology* machine = type ? topology() : nullptr;
    return machine == nullptr ? 0 : std::uint32_t(std::max(hwloc_get_nbobjs_by_type(machine->hwloc, *type), 0));
}

std::vector<std::uint64_t> HwResources::numa_latencies(std::uint32_t node) {
    const Topology* machine = topology();
    if (machine == nullptr) {
        return {};
    }
    unsigned count = 1;
    hwloc_distances_s* distances = nullptr;
    if (hwloc_distances_get_by_type(
            machine->hwloc, HWLOC_OBJ_NUMANODE, &count, &distances, HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) != 0 ||
        count == 0) {
        return {};
    }
    std::vector<std::uint64_t> result;
    const unsigned size = distances->nbobjs;
    for (unsigned from = 0; from < size; ++from) {
        if (distances->objs[from] == nullptr || distances->objs[from]->logical_index != node) {
            continue;
        }
        result.resize(std::size_t(hwloc_get_nbobjs_by_type(machine->hwloc, HWLOC_OBJ_NUMANODE)));
        for (unsigned to = 0; to < size; ++to) {
            if (distances->objs[to] != nullptr) {
                result[distances->objs[to]->logical_index] = distances->values[std::size_t(from) * size + to];
            }
        }
    }
    hwloc_distances_release(machine->hwloc, distances);
    return result;
}

} // namespace patchbay
