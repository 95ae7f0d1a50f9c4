// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "launch/job.h"
#include "launch/job_layout.h"
#include "launch/topology.h"

#include <optional>
#include <sched.h>
#include <vector>

namespace patchbay::launch {

struct Placement {
    JobLayout layout;
    std::vector<std::optional<cpu_set_t>> cpus; // per rank; nullopt: the rank may run wherever mpirun may
};

// Determines the number of ranks, the core of each rank, and the process sets. Errc::invalid if --no-oversubscribe
// forbids the number of ranks, or if a process set contains a rank that does not exist.
Result<Placement> place(const JobSpec& job, const Topology& topology);

} // namespace patchbay::launch
