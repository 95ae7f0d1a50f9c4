/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Abort of one rank ends the others, which wait for ever. */
#include <mpi.h>

int main(int argc, char** argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == size - 1) {
        MPI_Abort(MPI_COMM_WORLD, 42);
    }
    MPI_Recv(&rank, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}
