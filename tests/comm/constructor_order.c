/* SPDX-License-Identifier: BSD-3-Clause */
/* Constructors on different parents cross: one process begins the second without waiting for the first, another one
   waits for the first before it begins the second, in the opposite order. */
#include "tests/mpi_check/check.h"

#define MOST 24

static int rank, size;

static void check_use(MPI_Comm comm) {
    int sum = 0, one = 1;
    CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS && sum == size);
}

/* Odd ranks call MPI_Comm_idup `count` times before the blocking constructor; even ranks call the blocking one first.
 */
static void cross(MPI_Comm blocking, MPI_Comm* parents, int count) {
    MPI_Comm made[MOST], dup;
    MPI_Request requests[MOST];
    if (rank % 2 == 0) {
        MPI_Comm_dup(blocking, &dup);
    }
    for (int i = 0; i < count; ++i) {
        MPI_Comm_idup(parents[i], &made[i], &requests[i]);
    }
    if (rank % 2 != 0) {
        MPI_Comm_dup(blocking, &dup);
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    check_use(dup);
    MPI_Comm_free(&dup);
    for (int i = 0; i < count; ++i) {
        check_use(made[i]);
        MPI_Comm_free(&made[i]);
    }
}

int main(int argc, char** argv) {
    MPI_Comm parents[MOST + 1];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i <= MOST; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &parents[i]);
    }
    for (int round = 0; round < 20; ++round) {
        cross(parents[round], parents + (round == 0),
            1); /* the blocking constructor has the lower key, then the higher one */
        if (round > 0) {
            cross(parents[0], parents + round, 1);
        }
    }
    cross(parents[MOST], parents, MOST);
    cross(parents[0], parents + 1, MOST);
    for (int i = 0; i <= MOST; ++i) {
        MPI_Comm_free(&parents[i]);
    }
    MPI_Finalize();
    return failures();
}
