/* SPDX-License-Identifier: BSD-3-Clause */
/* RandomAccess with one-sided communication: MPI_Accumulate with MPI_BXOR for each update. */
#include "random_access.h"

static MPI_Win window;

static uint64_t* table_open(uint64_t own_words) {
    uint64_t* table;
    MPI_Win_allocate(
        (MPI_Aint)(own_words * sizeof *table), sizeof *table, MPI_INFO_NULL, MPI_COMM_WORLD, &table, &window);
    MPI_Win_lock_all(0, window);
    return table;
}

static void table_update(const uint64_t* values, int count) {
    for (int i = 0; i < count; ++i) {
        MPI_Accumulate(&values[i], 1, MPI_UINT64_T, home_of(values[i]), (MPI_Aint)place_of(values[i]), 1, MPI_UINT64_T,
            MPI_BXOR, window);
    }
    MPI_Win_flush_local_all(window);
}

static void table_phase(void) {
    MPI_Win_flush_all(window);
    MPI_Win_sync(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(window);
}

static void table_close(void) {
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}
