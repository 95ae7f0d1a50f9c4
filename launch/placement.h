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
    std::vector<std::optional<cpu_set_t>> cpus; // per rank; none: it runs where mpirun may
};

// Settles how many ranks there are, which core each one gets, and the process sets. Errc::invalid when
// --no-oversubscribe forbids it, or a process set has a rank that is not there.
Result<Placement> place(const JobSpec& job, const Topology& topology);

} // namespace patchbay::launch
