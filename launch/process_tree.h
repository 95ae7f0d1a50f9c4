// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <sys/types.h>
#include <vector>

namespace patchbay::launch {

// Every process that descends from this one. Since the launcher is a subreaper (prctl(2)), that includes processes
// whose parents have died, however they were detached.
std::vector<pid_t> descendants();

// Sends a signal to each of them.
void signal_descendants(int signal);

// Whether this process has any child left, dead ones that nobody has waited for included.
bool has_children();

} // namespace patchbay::launch
