// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch/file_descriptor.h"

#include <chrono>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace patchbay::launch {

// The process that the user started, after it has forked the node daemon. It forwards signals to the job, reads the
// terminal for rank 0, stops and continues with the job, and returns the exit status. It has no state of the job, so
// whichever of the two processes is killed, the other one cleans up.
class FrontEnd {
public:
    // `terminal_pipe` is connected to rank 0's standard input if the standard input of this process is a terminal;
    // otherwise it is invalid. All forwarded signals and SIGCHLD must be blocked, and this process must be a subreaper.
    // `others`: descendants of this process that have nothing to do with the job, because it had them before it became
    // mpirun by execve(2).
    FrontEnd(pid_t launcher, FileDescriptor control, FileDescriptor terminal_pipe, std::vector<pid_t> others);

    struct Ended {
        int status;        // mpirun's exit status
        std::string cause; // a line for the user; empty: the node daemon has ended by itself
    };
    // Returns when the node daemon has ended and no process of the job is left. Writes nothing, which its reader could
    // delay.
    Ended run();

private:
    void wait_for_events();
    void handle_signal();
    void move_terminal_input(bool readable);
    bool may_read_terminal() const;
    Ended end_without_launcher(int signal, std::string cause);
    int milliseconds_left() const;

    pid_t _launcher;
    FileDescriptor _control;
    FileDescriptor _terminal_pipe;
    const std::vector<pid_t> _others;
    FileDescriptor _signals;
    int _requests_to_end = 0;
    std::optional<std::chrono::steady_clock::time_point> _deadline; // of the node daemon
    char _buffer[4096];
    std::size_t _begin = 0; // of the part of _buffer that is not written yet
    std::size_t _end = 0;
};

} // namespace patchbay::launch
