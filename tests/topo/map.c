/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Cart_map and MPI_Graph_map are local: one process calls them, while the others wait for its message. */
#include "tests/mpi_check/check.h"

int main(int argc, char** argv) {
    int rank, size, mapped = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int shorter = size - 1, periodic = 1;
    const int index[2] = {1, 2}, edges[2] = {1, 0};
    for (int caller = 0; caller < size; ++caller) {
        if (rank == caller) {
            CHECK_OK(MPI_Cart_map(MPI_COMM_WORLD, 1, &size, &periodic, &mapped));
            CHECK_EQUAL(mapped, rank);
            CHECK_OK(MPI_Cart_map(MPI_COMM_WORLD, 1, &shorter, &periodic, &mapped));
            CHECK_EQUAL(mapped, rank < shorter ? rank : MPI_UNDEFINED);
            CHECK_OK(MPI_Graph_map(MPI_COMM_WORLD, 2, index, edges, &mapped));
            CHECK_EQUAL(mapped, rank < 2 ? rank : MPI_UNDEFINED);
        }
        MPI_Bcast(&mapped, 1, MPI_INT, caller, MPI_COMM_WORLD);
    }
    return finish();
}
