// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace patchbay {

// What Patchbay's mpirun adds to PMIx for the dynamic processes of MPI (MPI-5.0, 11).

// MPI_Comm_spawn is a PMIx_Spawn with this key in its job information (string): it names the call. The processes of the
// new job find its value in the variable, and their parent by PMIX_PARENT_ID.
inline constexpr char spawn_key[] = "patchbay.spawn.key";
inline constexpr char parent_variable[] = "PATCHBAY_NODE_PARENT";
// In the information of one of its programs (string): directories, separated by colons, that are searched before PATH.
inline constexpr char spawn_path_key[] = "patchbay.spawn.path";
// In the same place (string): names of process sets of the new job, separated by commas, to which the processes of this
// program belong.
inline constexpr char spawn_psets_key[] = "patchbay.spawn.psets";
// When the spawn fails, mpirun publishes the cause (string) under this name, followed by the key of the call.
inline constexpr char spawn_failure_name[] = "patchbay.spawn.failure.";

// Requests on a port, by PMIx_Job_control; the value is the name of the port (string). The answer to `open` and `close`
// has the key port_done, that to `open` also the name under which the port is known from then on, to processes of other
// mpirun of the user too (port_name). `accept` and `connect` are answered when both have come, with the other process
// and a number that no other pair has. PMIX_ERR_NOT_FOUND: there is no such port, or it has been closed meanwhile.
// PMIX_ERR_TIMEOUT: the time in port_limit is over. PMIX_ERR_DUPLICATE_KEY: the name is in use. PMIX_ERR_BAD_PARAM:
// both ends are one process.
inline constexpr char port_open_key[] = "patchbay.port.open";
inline constexpr char port_close_key[] = "patchbay.port.close";
inline constexpr char port_accept_key[] = "patchbay.port.accept";
inline constexpr char port_connect_key[] = "patchbay.port.connect";
inline constexpr char port_limit_key[] = "patchbay.port.limit"; // milliseconds (uint64_t), beside the other keys
inline constexpr char port_done_key[] = "patchbay.port.done";   // bool
inline constexpr char port_name_key[] = "patchbay.port.name";   // string
inline constexpr char port_peer_key[] = "patchbay.port.peer";   // PMIX_PROC
inline constexpr char port_pair_key[] = "patchbay.port.pair";   // uint64_t

// MPI_Publish_name: PMIx_Publish of this name, followed by the name of the service. With PMIX_RANGE_GLOBAL it is known
// to all mpirun of the user; then PMIX_ERR_NO_PERMISSIONS: mpirun can make no socket for the others.
inline constexpr char service_name[] = "patchbay.service.";

} // namespace patchbay
