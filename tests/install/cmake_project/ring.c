/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes a token once around; exit status 0 when it came back with the contribution of each process. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, size, token = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    if (rank == 0) {
        token = 1;
        MPI_Send(&token, 1, MPI_INT, next, 7, MPI_COMM_WORLD);
        MPI_Recv(&token, 1, MPI_INT, previous, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("token %d of %d\n", token, size);
    } else {
        MPI_Recv(&token, 1, MPI_INT, previous, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        token += 1;
        MPI_Send(&token, 1, MPI_INT, next, 7, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return rank == 0 && token != size;
}
