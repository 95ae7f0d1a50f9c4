/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* What the programs of this folder have in common. A failed check is printed and counted; the program then ends with
 * status 1 in every rank's name, because mpirun reports the first failing one. */
static int failures = 0;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            failures++;                                                                                                \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                                  \
        }                                                                                                              \
    } while (0)

static inline int finish(void) {
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
