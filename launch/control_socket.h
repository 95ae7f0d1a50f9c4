// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch/file_descriptor.h"

#include <optional>

namespace patchbay::launch {

// The control socket between the front end (the process that the user started) and the node daemon. The front end sends
// the number of every signal that it receives; the end of the stream shows the node daemon that the front end has
// failed.
struct ControlPair {
    FileDescriptor front_end;
    FileDescriptor launcher;
};

// Both ends are invalid if the system cannot create sockets; errno is the cause.
ControlPair make_control_pair();

// Returns false if the node daemon has failed.
bool send_signal_number(int control_fd, int signal);

// The next signal number; 0 at the end of the stream; nullopt when nothing has arrived.
std::optional<int> receive_signal_number(int control_fd);

} // namespace patchbay::launch
