// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch/file_descriptor.h"
#include "launch/job.h"
#include "launch/timing.h"

#include <signal.h>
#include <string>

namespace patchbay::launch {

// What the node daemon gets from the process that the user started.
struct LauncherInputs {
    FileDescriptor control;        // see control_socket.h
    FileDescriptor standard_input; // for rank 0
    sigset_t user_signal_mask;     // of the ranks when they start
    std::string socket_file;       // name_exchange.h
    Timing timing;
};

// The node daemon: the head of the run and the agent of this node, in one process and one event loop, joined by a
// connection (link.h). SIGCHLD and all signals that are forwarded must be blocked. Ends the process with the exit
// status of mpirun.
[[noreturn]] void run_launcher(const JobSpec& job, LauncherInputs inputs);

} // namespace patchbay::launch
