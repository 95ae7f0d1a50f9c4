/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PATCHBAY_TESTS_SURVIVORS_H
#define PATCHBAY_TESTS_SURVIVORS_H
/* For MPI test programs in C of which a rank fails, and in which MPI_COMM_WORLD returns errors. */
#include "tests/mpi_check/check.h"

#include <unistd.h>

/* These ranks of MPI_COMM_WORLD. The caller frees the group. */
static inline MPI_Group group_of(int count, const int* members) {
    MPI_Group all, some;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, count, members, &some);
    MPI_Group_free(&all);
    return some;
}

/* Ends MPI in a rank that has not failed, and gives its exit status. mpirun exits with the status of the rank that
 * failed first, so that a rank whose checks failed waits until mpirun's --timeout ends the job. */
static inline int finish_survivor(void) {
    if (finish() != 0) {
        pause();
    }
    return 0;
}
#endif
