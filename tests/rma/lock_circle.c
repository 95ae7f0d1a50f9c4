/* SPDX-License-Identifier: BSD-3-Clause */
/* Two processes take the exclusive locks of two members, always in the same order, and use both: neither waits for the
 * other for ever. The members are others, or the two themselves. */
#define _DEFAULT_SOURCE
#include "tests/mpi_check/check.h"

#include <unistd.h>

static int rank;
static MPI_Win window;

static void take_both(int first, int second) {
    int read[2] = {-1, -1};
    if (rank == 1) {
        usleep(50000);
    }
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, first, 0, window));
    if (rank == 0) {
        usleep(150000);
    }
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, second, 0, window));
    CHECK_OK(MPI_Put(&rank, 1, MPI_INT, first, 0, 1, MPI_INT, window));
    CHECK_OK(MPI_Put(&rank, 1, MPI_INT, second, 0, 1, MPI_INT, window));
    CHECK_OK(MPI_Win_flush_all(window));
    CHECK_OK(MPI_Get(&read[0], 1, MPI_INT, first, 0, 1, MPI_INT, window));
    CHECK_OK(MPI_Get(&read[1], 1, MPI_INT, second, 0, 1, MPI_INT, window));
    CHECK_OK(MPI_Win_unlock(second, window));
    CHECK_OK(MPI_Win_unlock(first, window));
    CHECK_EQUAL(read[0], rank);
    CHECK_EQUAL(read[1], rank);
}

int main(int argc, char** argv) {
    static int memory;
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK_OK(MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_WORLD, &window));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank < 2) {
        take_both(size - 2, size - 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_free(&window));
    return finish();
}
