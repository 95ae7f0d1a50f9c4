// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "launch/job.h"
#include "launch/job_layout.h"
#include "launch/topology.h"

#include <cstdint>
#include <optional>
#include <sched.h>
#include <string>
#include <vector>

namespace patchbay::launch {

// Errc::out_of_memory: a node cannot have so many ranks, because PMIX_NODE_RANK has 16 bits.
Status check_number_of_ranks(std::int64_t ranks);

// Determines the ranks of a job and its process sets but those of the hardware, on a node with so many cores, and gives
// the job its name. Errc::out_of_memory: a node cannot have so many ranks. Errc::invalid if --no-oversubscribe forbids
// their number, or if a process set contains a rank that does not exist or has a name that it must not have.
Result<JobLayout> lay_out(const JobSpec& job, const std::string& hostname, int cores);

// Whether the ranks of the job are bound when the user has not said so: when each gets a core of its own.
BindTo binding_of(const JobSpec& job, const JobLayout& layout);

// The cpus of each rank on this node; nullopt: the rank may run wherever mpirun may.
std::vector<std::optional<cpu_set_t>> bind_ranks(
    const JobLayout& layout, BindTo bind_to, MapBy map_by, const Topology& topology);
// Adds the process sets of those ranks that may run nowhere else than on a part of the hardware.
void add_psets_of_places(
    JobLayout& layout, const std::vector<std::optional<cpu_set_t>>& cpus, const Topology& topology);

std::string host_name();

} // namespace patchbay::launch
