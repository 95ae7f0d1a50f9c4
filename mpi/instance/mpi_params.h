// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/param/spec.h"

namespace patchbay {

// Parameters of MPI itself; their full names are mpi_<name>.
inline constexpr ParamSpec mpi_params[] = {
    {"param_check", ParamType::boolean, "true",
        "whether every MPI call checks its arguments; without, a wrong argument has undefined consequences", nullptr,
        ParamLevel::user_detail, ParamScope::local},
    {"initial_errhandler", ParamType::enumeration, "fatal",
        "error handler that MPI_COMM_WORLD and MPI_COMM_SELF begin with, and that decides about errors of calls "
        "without an "
        "object while only sessions are open: MPI_ERRORS_ARE_FATAL, MPI_ERRORS_ABORT or MPI_ERRORS_RETURN",
        "fatal,abort,return", ParamLevel::user_detail, ParamScope::local},
};

// What concerns all components of framework cid.
inline constexpr ParamSpec cid_params[] = {
    {"stats", ParamType::boolean, "false",
        "whether every process says at the end what naming its communicators has cost: rounds of reduction, PGCIDs, "
        "extended headers, answers",
        nullptr, ParamLevel::tuner_basic, ParamScope::local},
};

} // namespace patchbay
