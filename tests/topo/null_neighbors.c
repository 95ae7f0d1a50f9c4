/* SPDX-License-Identifier: BSD-3-Clause */
/* The blocks of neighbours that are MPI_PROC_NULL are not used: they may overlap those that are. */
#include "tests/mpi_check/check.h"

int main(int argc, char** argv) {
    int rank, size, periodic = 0;
    MPI_Comm line;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &line);
    MPI_Comm_rank(line, &rank);
    MPI_Comm_set_errhandler(line, MPI_ERRORS_RETURN);
    int data[4] = {rank, rank, -1, -1};
    const int counts[2] = {1, 1}, sent[2] = {0, 1};
    const int received[2] = {
        rank == 0 ? 0 : 2, rank == size - 1 ? 1 : 3}; /* that of MPI_PROC_NULL is one that is sent */
    CHECK_OK(MPI_Neighbor_alltoallv(data, counts, sent, MPI_INT, data, counts, received, MPI_INT, line));
    CHECK_EQUAL(data[0], rank);
    CHECK_EQUAL(data[1], rank);
    CHECK_EQUAL(data[2], rank - 1);
    CHECK_EQUAL(data[3], rank == size - 1 ? -1 : rank + 1);
    MPI_Comm_free(&line);
    return finish();
}
