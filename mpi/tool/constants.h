// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/param/spec.h"
#include "include/mpi.h"

namespace patchbay::tool {

// MPI_T_VERBOSITY_* of a level, MPI_T_SCOPE_* of a scope.
constexpr int verbosity_of(ParamLevel level) noexcept {
    constexpr int by_level[] = {MPI_T_VERBOSITY_USER_BASIC, MPI_T_VERBOSITY_USER_DETAIL, MPI_T_VERBOSITY_USER_ALL,
        MPI_T_VERBOSITY_TUNER_BASIC, MPI_T_VERBOSITY_TUNER_DETAIL, MPI_T_VERBOSITY_TUNER_ALL,
        MPI_T_VERBOSITY_MPIDEV_BASIC, MPI_T_VERBOSITY_MPIDEV_DETAIL, MPI_T_VERBOSITY_MPIDEV_ALL};
    return by_level[int(level) - int(ParamLevel::user_basic)];
}
constexpr int scope_of(ParamScope scope) noexcept {
    constexpr int by_scope[] = {MPI_T_SCOPE_CONSTANT, MPI_T_SCOPE_READONLY, MPI_T_SCOPE_LOCAL, MPI_T_SCOPE_GROUP,
        MPI_T_SCOPE_GROUP_EQ, MPI_T_SCOPE_ALL, MPI_T_SCOPE_ALL_EQ};
    return by_scope[int(scope)];
}

} // namespace patchbay::tool
