/* SPDX-License-Identifier: BSD-3-Clause */
/* world_ring RANKS: the world has so many processes, on one node, and a token goes round. */
#include "tests/mpi_check/check.h"

#include <stdlib.h>

int main(int argc, char** argv) {
    int rank = -1, size = -1, token = -1, sum = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 2 || size != atoi(argv[1])) {
        fprintf(stderr, "world_ring: %d processes, wanted %s\n", size, argc == 2 ? argv[1] : "(no argument)");
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    for (int round = 0; round < 100; ++round) {
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, round, &token, 1, MPI_INT, (rank + size - 1) % size, round,
            MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(token == (rank + size - 1) % size);
    }
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size * (size - 1) / 2);
    MPI_Finalize();
    return failures();
}
