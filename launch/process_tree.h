// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <sys/types.h>
#include <vector>

namespace patchbay::launch {

// Every process that descends from this one. Since the node daemon is a subreaper (prctl(2)), that includes processes
// whose parents have failed, however they were detached. `without`: these are left out, with their own descendants.
// Empty where sees_processes() is false.
std::vector<pid_t> descendants(std::span<const pid_t> without = {});

// Sends a signal to each of them.
void signal_descendants(int signal);

// Whether /proc shows the processes of this PID namespace: not where it is that of another one (unshare --pid without
// --mount-proc), or where it is not mounted.
bool sees_processes();

// Whether this process has any child left, including ended ones that have not been waited for.
bool has_children();

} // namespace patchbay::launch
