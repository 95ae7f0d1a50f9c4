// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/param/spec.h"

namespace patchbay {

// The parameters of the MPI layer. Their full names are mpi_<name>.
inline constexpr ParamSpec mpi_params[] = {
    {"param_check", ParamType::boolean, "true",
        "whether every MPI call checks its arguments; otherwise a wrong argument has undefined consequences", nullptr,
        ParamLevel::user_detail, ParamScope::local},
    {"check_addresses", ParamType::boolean, "true",
        "whether a handle that is no address of this process is an error like any other wrong handle: the library "
        "handles SIGSEGV and SIGBUS for the instructions that read what a handle points to, and passes on all others; "
        "false: it installs no signal handler, and such a handle ends the program",
        nullptr, ParamLevel::user_detail, ParamScope::local},
    {"initial_errhandler", ParamType::enumeration, "fatal",
        "initial error handler of MPI_COMM_WORLD and MPI_COMM_SELF; also used for errors of calls that have no object "
        "while only sessions are open: MPI_ERRORS_ARE_FATAL, MPI_ERRORS_ABORT or MPI_ERRORS_RETURN",
        "fatal,abort,return", ParamLevel::user_detail, ParamScope::local},
    {"check", ParamType::list, "none",
        "what the library checks beyond the arguments of each call, at the price of speed: types (what a message was "
        "sent and is received as), collectives (all members make the same calls), buffers (none is touched while it is "
        "in use), windows (one-sided operations that conflict), threads (each call is made by a thread that may make "
        "it), leaks (what the program has not freed), all, none",
        nullptr, ParamLevel::user_basic, ParamScope::all_equal},
    {"thread_warning", ParamType::boolean, "true",
        "whether the first call by a thread that must not make it at the thread level of the program prints a warning; "
        "the program goes on",
        nullptr, ParamLevel::user_basic, ParamScope::local},
    {"connect_timeout", ParamType::duration, "60s",
        "how long MPI_Comm_connect waits for MPI_Comm_accept at a port that exists; 0: without a limit", nullptr,
        ParamLevel::user_basic, ParamScope::local},
    {"name_scope", ParamType::enumeration, "mpirun",
        "which processes find the name of a service that MPI_Publish_name publishes, and whose names MPI_Lookup_name "
        "finds, where info key scope does not say: those of this mpirun, or of all mpirun of this user on this machine",
        "mpirun,user", ParamLevel::user_basic, ParamScope::local},
    {"threadcomm_start_timeout", ParamType::duration, "60s",
        "how long MPIX_Threadcomm_start waits for the other threads of the process before it returns an error; 0: "
        "without a limit",
        nullptr, ParamLevel::user_basic, ParamScope::local},
    {"part_message_size", ParamType::size, "128KiB",
        "partitions of a request of MPI_Psend_init are sent in one message until it has at least this many bytes; 0: "
        "each partition is sent in a message of its own",
        nullptr, ParamLevel::tuner_basic, ParamScope::local},
    {"part_channels", ParamType::enumeration, "auto",
        "which messages of partitioned communication are carried by channels (framework chan), where both sides want "
        "that: auto: those of which a component says that it is faster than the pml",
        "auto,all,none", ParamLevel::tuner_basic, ParamScope::local},
    {"part_most_channels", ParamType::integer, "1024",
        "how many channels of partitioned communication this process has at most; each takes 4 KiB to 128 KiB of the "
        "memory that the processes of a node share",
        "0..", ParamLevel::tuner_detail, ParamScope::local},
};

// The parameters that all components of framework cid have in common.
inline constexpr ParamSpec cid_params[] = {
    {"stats", ParamType::boolean, "false",
        "whether every process prints at the end the cost of its CID allocations: rounds of group reductions, PGCIDs, "
        "extended headers, CID acknowledgements",
        nullptr, ParamLevel::tuner_basic, ParamScope::local},
};

} // namespace patchbay
