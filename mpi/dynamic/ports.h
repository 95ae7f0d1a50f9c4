// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/runtime/launcher_services.h"
#include "object/communicator.h"

#include <chrono>
#include <string>
#include <string_view>

namespace [[gnu::visibility("default")]] patchbay {

// Ports, names of services, and MPI_Comm_join (MPI-5.0, 11.9 and 11.10.4). All functions return an MPI code and note
// the cause of an error.

// MPI_Open_port: *name is that of a new port.
int open_port(Instance& instance, std::string* name);
int close_port(Instance& instance, std::string_view name);

// Parameter mpi_connect_timeout.
std::chrono::milliseconds connect_limit(Instance& instance);

enum class PortSide { accept, connect };
// MPI_Comm_accept and MPI_Comm_connect: collective over the intracommunicator `comm`; `root` and `refused` as those of
// spawn(). `name` and `limit` (0: none) are significant at the root.
int connect_at_port(PortSide side, std::string_view name, std::chrono::milliseconds limit, int root, Communicator& comm,
    int refused, Communicator** made, std::string* problem);

// MPI_Comm_join, on the intracommunicator MPI_COMM_SELF. `fd` is a connected stream socket; the process at its other
// end calls the same function.
int join(int fd, Communicator& self, Communicator** made, std::string* problem);

// Parameter mpi_name_scope.
LauncherServices::Scope name_scope(Instance& instance);
// MPI_Publish_name, MPI_Lookup_name, MPI_Unpublish_name.
int publish_name(Instance& instance, std::string_view service, std::string_view port, LauncherServices::Scope scope);
int look_up_name(Instance& instance, std::string_view service, LauncherServices::Scope scope, std::string* port);
int unpublish_name(Instance& instance, std::string_view service);

} // namespace patchbay
