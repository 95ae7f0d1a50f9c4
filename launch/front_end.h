// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch/file_descriptor.h"

#include <chrono>
#include <optional>
#include <sys/types.h>

namespace patchbay::launch {

// The process that the user started, once it has forked the launcher process off. It stands between the terminal and
// the job: it passes signals on, reads the terminal for rank 0, stops and continues with the job, and hands back the
// exit status. It holds nothing of the job, so whichever of the two processes is killed, the other one cleans up.
class FrontEnd {
public:
    // `terminal_pipe` leads to rank 0's standard input when ours is a terminal, otherwise it is none. All forwarded
    // signals and SIGCHLD must be blocked, and this process must be a subreaper.
    FrontEnd(pid_t launcher, FileDescriptor control, FileDescriptor terminal_pipe);

    // Returns mpirun's exit status once the launcher process has ended and nothing of the job is left.
    int run();

private:
    void wait_for_events();
    void handle_signal();
    void move_terminal_input(bool readable);
    bool may_read_terminal() const;
    int end_without_launcher(int signal);
    int milliseconds_left() const;

    pid_t _launcher;
    FileDescriptor _control;
    FileDescriptor _terminal_pipe;
    FileDescriptor _signals;
    int _requests_to_end = 0;
    std::optional<std::chrono::steady_clock::time_point> _deadline; // of the launcher process
    char _buffer[4096];
    std::size_t _begin = 0; // what of _buffer is still to be written
    std::size_t _end = 0;
};

} // namespace patchbay::launch
