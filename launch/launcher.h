// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch/file_descriptor.h"
#include "launch/job.h"
#include "launch/timing.h"

#include <signal.h>

namespace patchbay::launch {

// What the launcher process gets from the process that the user started.
struct LauncherInputs {
    FileDescriptor control;        // see control_socket.h
    FileDescriptor standard_input; // for rank 0
    sigset_t user_signal_mask;     // what the ranks start with
    Timing timing;
};

// The launcher process: hosts the PMIx server, starts the ranks, carries their output and ends the job. All signals
// that are to be passed on, and SIGCHLD, must be blocked. Ends the process with the exit status of mpirun.
[[noreturn]] void run_launcher(const JobSpec& job, LauncherInputs inputs);

} // namespace patchbay::launch
