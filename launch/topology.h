// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "launch/job.h"

#include <memory>
#include <sched.h>
#include <string>
#include <vector>

struct hwloc_topology;

namespace patchbay::launch {

// The cores of this machine that mpirun itself may use; an inherited affinity mask or cpuset is respected.
class Topology {
public:
    // Discovers only what placement and process sets need (cores, packages, NUMA nodes, third-level caches): no
    // devices, no other caches, which take five times as long per core as these, no plugins of hwloc. That takes 1.5 ms
    // here instead of the 20 ms of a full discovery with plugins; see README.md.
    static Result<Topology> discover();

    // For the PMIx server, which would otherwise make a full discovery itself.
    hwloc_topology* handle() const { return _handle.get(); }

    int core_count() const;
    int cpu_count() const; // hardware threads

    // A part of the machine, and the name of its process set: "mpix://NUMA/0".
    struct Place {
        std::string set;
        bool is_listed;
        cpu_set_t cpus; // those that mpirun may use
    };
    // Of every kind in core/runtime/hardware_kinds.h.
    std::vector<Place> places() const;
    // All cpus that mpirun may use.
    cpu_set_t all_cpus() const;

    // The cpus of each core, in the order in which cores are assigned to ranks.
    std::vector<cpu_set_t> cores_in_order(MapBy map_by) const;

private:
    struct Destroy {
        void operator()(hwloc_topology* topology) const;
    };
    std::unique_ptr<hwloc_topology, Destroy> _handle;
};

} // namespace patchbay::launch
