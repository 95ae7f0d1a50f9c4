// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "launch/file_descriptor.h"

#include <string>
#include <vector>

namespace patchbay::launch {

// Unix sockets by which the mpirun of one user find each other. They are files in a directory that only this user may
// enter: patchbay-names in $XDG_RUNTIME_DIR, or /tmp/patchbay-names-UID where that is not set or is no such directory.
// The directory exists as long as it has files.

// A name that no other mpirun makes; versions that do not understand each other have different ones.
std::string make_socket_file();

// A socket on which other mpirun can connect as soon as the function returns. Errc::system with the reason.
Result<FileDescriptor> listen_for_user(const std::string& file);
// Removes what listen_for_user() of any process has made, if it has.
void remove_user_socket(const std::string& file) noexcept;

// Connections to all sockets of this user but `own`. Removes those whose processes have ended without doing so.
std::vector<FileDescriptor> connect_to_user(const std::string& own);
// A connection to one of them; an invalid descriptor: there is none, or `file` is no name of such a socket.
FileDescriptor connect_to_user_at(const std::string& file);
// Accepts a connection; an invalid descriptor: there is none, or the other process is one of another user.
FileDescriptor accept_from_user(int listener);

} // namespace patchbay::launch
