// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <sys/types.h>
#include <vector>

namespace patchbay::launch {

// Every process that descends from this one. Since the node daemon is a subreaper (prctl(2)), that includes processes
// whose parents have failed, however they were detached.
std::vector<pid_t> descendants();

// Sends a signal to each of them.
void signal_descendants(int signal);

// Whether this process has any child left, including ended ones that have not been waited for.
bool has_children();

} // namespace patchbay::launch
