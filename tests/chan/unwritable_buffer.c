/* SPDX-License-Identifier: BSD-3-Clause */
/* chan/rdma without single copy: a receive is bound to memory that the other process cannot write. Its starts fail on
 * both sides, and those with another buffer do not. */
#include "tests/mpi_check/check.h"

#include <mpix.h>
#include <stdlib.h>
#include <string.h>

enum { bytes = 65536 };

static int rank;

static int transfer(MPI_Request* bound) {
    if (rank == 1) {
        CHECK_OK(MPI_Start(bound));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        CHECK_OK(MPI_Start(bound));
    }
    return class_of(MPI_Wait(bound, MPI_STATUS_IGNORE));
}

int main(int argc, char** argv) {
    char *reachable, *private_memory = malloc(bytes);
    MPI_Request in, bound;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Alloc_mem(bytes, MPI_INFO_NULL, &reachable);
    if (rank == 0) {
        MPI_Send_init(reachable, bytes, MPI_BYTE, 1, 5, MPI_COMM_WORLD, &in);
    } else {
        MPI_Recv_init(reachable, bytes, MPI_BYTE, 0, 5, MPI_COMM_WORLD, &in);
    }
    CHECK_OK(MPIX_Bind_channel(in, &bound, MPI_INFO_NULL));
    for (int round = 1; round <= 3; ++round) {
        if (rank == 1) {
            CHECK_OK(MPIX_Rebind_channel(bound, private_memory, bytes));
        }
        for (int i = 0; i < 2; ++i) {
            CHECK_EQUAL(transfer(&bound), MPI_ERR_OTHER);
        }
        if (rank == 1) {
            CHECK_OK(MPIX_Rebind_channel(bound, reachable, bytes));
        }
        for (int i = 0; i < 2; ++i) {
            memset(reachable, rank == 0 ? 10 * round + i : 0, bytes);
            CHECK_EQUAL(transfer(&bound), MPI_SUCCESS);
            CHECK_EQUAL(reachable[bytes - 1], 10 * round + i);
        }
    }
    CHECK_OK(MPIX_Unbind_channel(&bound));
    CHECK_OK(MPI_Request_free(&in));
    MPI_Free_mem(reachable);
    free(private_memory);
    return finish();
}
