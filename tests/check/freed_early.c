/* SPDX-License-Identifier: BSD-3-Clause */
/* The request of a persistent collective, and its communicator, are freed before the checking mode has compared the
 * call with those of the other members. */
#define _DEFAULT_SOURCE
#include "tests/mpi_check/check.h"

#include <unistd.h>

int main(int argc, char** argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < 3; ++round) {
        MPI_Comm comm, other;
        MPI_Request request;
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        CHECK_OK(MPI_Barrier(comm));
        if (rank != 0) {
            usleep(100000);
        }
        CHECK_OK(MPI_Barrier_init(comm, MPI_INFO_NULL, &request));
        CHECK_OK(MPI_Request_free(&request));
        CHECK_OK(MPI_Comm_free(&comm));
        for (int i = 0; i < 50; ++i) { /* the memory is used again */
            CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &other));
            CHECK_OK(MPI_Comm_free(&other));
        }
        if (rank == 0) {
            usleep(200000);
        }
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    return finish();
}
