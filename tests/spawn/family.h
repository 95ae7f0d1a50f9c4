/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PATCHBAY_TESTS_SPAWN_FAMILY_H
#define PATCHBAY_TESTS_SPAWN_FAMILY_H
#include "tests/mpi_check/check.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

/* The path of this program, which starts itself. */
static inline const char* self_path(void) {
    static char path[4096];
    if (path[0] == '\0') {
        const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
        CHECK(length > 0);
    }
    return path;
}

/* In the parents: starts that many processes of this program. All of them get the intercommunicator `family` and one
 * communicator, in which the parents come first. */
static inline MPI_Comm merge_with_children(int children, MPI_Comm* family) {
    MPI_Comm merged = MPI_COMM_NULL;
    MPI_Comm_get_parent(family);
    const int is_child = *family != MPI_COMM_NULL;
    if (!is_child) {
        CHECK_OK(MPI_Comm_spawn(
            self_path(), MPI_ARGV_NULL, children, MPI_INFO_NULL, 0, MPI_COMM_WORLD, family, MPI_ERRCODES_IGNORE));
    }
    CHECK_OK(MPI_Intercomm_merge(*family, is_child, &merged));
    return merged;
}
#endif
