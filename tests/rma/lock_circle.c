/* SPDX-License-Identifier: BSD-3-Clause */
/* Two processes take the exclusive locks of two members, always in the same order, and use both: neither waits for the
 * other for ever. The members are others, or the two themselves, in one window or in two, whose components are the
 * arguments if there are any. */
#define _DEFAULT_SOURCE
#include "tests/mpi_check/check.h"

#include <unistd.h>

static int rank;
static void take_both(MPI_Win one, int first, MPI_Win other, int second) {
    int read[2] = {-1, -1};
    if (rank == 1) {
        usleep(50000);
    }
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, first, 0, one));
    if (rank == 0) {
        usleep(150000);
    }
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, second, 0, other));
    CHECK_OK(MPI_Put(&rank, 1, MPI_INT, first, 0, 1, MPI_INT, one));
    CHECK_OK(MPI_Put(&rank, 1, MPI_INT, second, 0, 1, MPI_INT, other));
    CHECK_OK(MPI_Win_flush(first, one));
    CHECK_OK(MPI_Win_flush(second, other));
    CHECK_OK(MPI_Get(&read[0], 1, MPI_INT, first, 0, 1, MPI_INT, one));
    CHECK_OK(MPI_Get(&read[1], 1, MPI_INT, second, 0, 1, MPI_INT, other));
    CHECK_OK(MPI_Win_unlock(second, other));
    CHECK_OK(MPI_Win_unlock(first, one));
    CHECK_EQUAL(read[0], rank);
    CHECK_EQUAL(read[1], rank);
}

int main(int argc, char** argv) {
    static int memory[2];
    MPI_Win windows[2];
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 2; ++i) {
        MPI_Info info;
        MPI_Info_create(&info);
        if (argc > 2) {
            MPI_Info_set(info, "patchbay_osc", argv[1 + i]);
        }
        CHECK_OK(MPI_Win_create(&memory[i], sizeof(int), sizeof(int), info, MPI_COMM_WORLD, &windows[i]));
        MPI_Info_free(&info);
    }
    for (int other = 0; other < 2; ++other) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank < 2) {
            take_both(windows[0], size - 2, windows[other], size - 1);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank < 2 && other != 0) {
            take_both(windows[0], size - 1, windows[1], size - 1);
        }
    }
    for (int i = 0; i < 2; ++i) {
        CHECK_OK(MPI_Win_free(&windows[i]));
    }
    return finish();
}
