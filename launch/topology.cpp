// SPDX-License-Identifier: BSD-3-Clause
#include "launch/topology.h"

#include "core/runtime/hardware_kinds.h"
#include "launch/report.h"

#include <cerrno>
#include <cstdlib>
#include <hwloc.h>
#include <hwloc/glibc-sched.h>
#include <map>

namespace patchbay::launch {

namespace {

bool keep_only_what_placement_needs(hwloc_topology_t topology) {
    hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    for (hwloc_obj_type_t type :
        {HWLOC_OBJ_CORE, HWLOC_OBJ_PU, HWLOC_OBJ_PACKAGE, HWLOC_OBJ_NUMANODE, HWLOC_OBJ_L3CACHE}) {
        hwloc_topology_set_type_filter(topology, type, HWLOC_TYPE_FILTER_KEEP_ALL);
    }
    // The kernel's files contain everything that is needed. To query each core by CPUID, hwloc would have to bind
    // itself to each of them.
    return hwloc_topology_set_flags(topology,
               HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM | HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING |
                   HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING | HWLOC_TOPOLOGY_FLAG_NO_DISTANCES |
                   HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS | HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS) == 0;
}

// Returns the package or NUMA node to which a core belongs.
int group_of(hwloc_topology_t topology, hwloc_obj_t core, MapBy map_by) {
    if (map_by == MapBy::numa) {
        return hwloc_bitmap_first(core->nodeset);
    }
    hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, core);
    return package == nullptr ? 0 : static_cast<int>(package->logical_index);
}

std::vector<hwloc_obj_t> cores_of(hwloc_topology_t topology) {
    std::vector<hwloc_obj_t> cores;
    // A machine that has no data about cores (some virtual ones) still has hardware threads.
    hwloc_obj_type_t type = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
    for (int i = 0; i < hwloc_get_nbobjs_by_type(topology, type); ++i) {
        cores.push_back(hwloc_get_obj_by_type(topology, type, static_cast<unsigned>(i)));
    }
    return cores;
}

// Takes one core of each group in turn, until all cores are taken.
std::vector<hwloc_obj_t> round_robin(hwloc_topology_t topology, const std::vector<hwloc_obj_t>& cores, MapBy map_by) {
    std::map<int, std::vector<hwloc_obj_t>> groups;
    for (hwloc_obj_t core : cores) {
        groups[group_of(topology, core, map_by)].push_back(core);
    }
    std::vector<hwloc_obj_t> order;
    for (std::size_t turn = 0; order.size() < cores.size(); ++turn) {
        for (const auto& [group, members] : groups) {
            if (turn < members.size()) {
                order.push_back(members[turn]);
            }
        }
    }
    return order;
}

cpu_set_t cpus_of(hwloc_topology_t topology, hwloc_obj_t object) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    hwloc_cpuset_to_glibc_sched_affinity(topology, object->cpuset, &cpus, sizeof cpus);
    return cpus;
}

} // namespace

Result<Topology> Topology::discover() {
    // hwloc opens its plugins (OpenCL, GL, PCI, XML) before a program can exclude them; only this variable prevents
    // that. It is set in this process alone: the environment of the ranks was copied before.
    ::setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 0);
    Topology topology;
    hwloc_topology_t handle = nullptr;
    if (hwloc_topology_init(&handle) != 0) {
        return Error{Errc::system, "hwloc cannot be initialised: " + errno_text(errno)};
    }
    topology._handle.reset(handle);
    if (!keep_only_what_placement_needs(handle) || hwloc_topology_load(handle) != 0) {
        return Error{Errc::system, "hwloc cannot read this machine's topology: " + errno_text(errno)};
    }
    return topology;
}

int Topology::core_count() const {
    return static_cast<int>(cores_of(handle()).size());
}

int Topology::cpu_count() const {
    return hwloc_get_nbobjs_by_type(handle(), HWLOC_OBJ_PU);
}

std::vector<cpu_set_t> Topology::cores_in_order(MapBy map_by) const {
    std::vector<hwloc_obj_t> cores = cores_of(handle());
    if (map_by == MapBy::numa || map_by == MapBy::socket) {
        cores = round_robin(handle(), cores, map_by);
    }
    std::vector<cpu_set_t> sets;
    for (hwloc_obj_t core : cores) {
        sets.push_back(cpus_of(handle(), core));
    }
    return sets;
}

std::vector<Topology::Place> Topology::places() const {
    std::vector<Place> places;
    for (const HardwareKind& kind : hardware_kinds) {
        hwloc_obj_type_t type;
        if (hwloc_type_sscanf(kind.hwloc, &type, nullptr, 0) != 0) {
            continue; // this version of hwloc has another name for it
        }
        for (int i = 0; i < hwloc_get_nbobjs_by_type(handle(), type); ++i) {
            hwloc_obj_t object = hwloc_get_obj_by_type(handle(), type, static_cast<unsigned>(i));
            // hwloc's own numbers change when mpirun may use a part of the machine only.
            const unsigned number = kind.has_system_number ? object->os_index : object->logical_index;
            places.push_back({std::string(hardware_scheme) + kind.name + "/" + std::to_string(number), kind.is_listed,
                cpus_of(handle(), object)});
        }
    }
    return places;
}

cpu_set_t Topology::all_cpus() const {
    return cpus_of(handle(), hwloc_get_root_obj(handle()));
}

void Topology::Destroy::operator()(hwloc_topology* topology) const {
    hwloc_topology_destroy(topology);
}

} // namespace patchbay::launch
