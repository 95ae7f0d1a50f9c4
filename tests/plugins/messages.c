/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank r sends r + 1 messages of 1,000 bytes to the next rank, in every form but the persistent one. */
#include <mpi.h>

int main(int argc, char** argv) {
    static char buffer[1000], incoming[1000];
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    for (int i = 0; i <= rank || i <= previous; ++i) {
        MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        if (i <= previous) {
            MPI_Irecv(incoming, 1000, MPI_BYTE, previous, i, MPI_COMM_WORLD, &requests[0]);
        }
        if (i <= rank && i % 2 == 0) {
            MPI_Send(buffer, 250, MPI_INT32_T, next, i, MPI_COMM_WORLD);
        } else if (i <= rank) {
            MPI_Isend(buffer, 1000, MPI_CHAR, next, i, MPI_COMM_WORLD, &requests[1]);
        }
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    return MPI_Finalize();
}
