// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <sched.h>
#include <signal.h>
#include <string>
#include <sys/resource.h>
#include <sys/types.h>
#include <vector>

namespace patchbay::launch {

// The description of a process that is to be started. The pointers must stay valid until spawn() returns.
struct ProcessPlan {
    std::string path;
    std::vector<char*> argv;
    std::vector<char*> environment;
    std::string working_directory;  // empty: that of this process
    int standard_fds[3];            // become 0, 1 and 2
    std::vector<int> inherited_fds; // kept open under their numbers; every other descriptor is closed by the exec
    std::optional<cpu_set_t> cpus;  // the cpus it may run on
    sigset_t signal_mask;
    rlimit file_limit; // RLIMIT_NOFILE
};

struct SpawnResult {
    pid_t pid = -1;
    int error = 0;        // errno value, 0 when the program runs
    std::string step;     // the step that failed
    bool at_exec = false; // it was the last one: the program cannot be executed
};

// Starts the process in a process group of its own. The process gets SIGKILL when the calling thread ends. Returns when
// the program runs or could not be started.
SpawnResult spawn(ProcessPlan& plan);

} // namespace patchbay::launch
