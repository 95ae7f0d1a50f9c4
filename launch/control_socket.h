// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch/file_descriptor.h"

#include <optional>

namespace patchbay::launch {

// The wire between the front end (the process that the user started) and the launcher process. The front end sends the
// number of every signal it gets; the end of the wire tells the launcher that the front end is gone, however it died.
struct ControlPair {
    FileDescriptor front_end;
    FileDescriptor launcher;
};

// Both ends are invalid when the system has no sockets to give; errno says why.
ControlPair make_control_pair();

// False when the launcher is gone.
bool send_signal_number(int control_fd, int signal);

// The next signal number, 0 at the end of the wire; nothing when nothing has arrived.
std::optional<int> receive_signal_number(int control_fd);

} // namespace patchbay::launch
