/* SPDX-License-Identifier: BSD-3-Clause */
/* What the benchmarks of one-sided communication share: windows of either kind, and times on rank 0. */
#ifndef PATCHBAY_BENCH_RMA_H
#define PATCHBAY_BENCH_RMA_H
#include "repeat.h"
#include "sizes.h"

#include <string.h>

static int rank, ranks;
static int bytes; /* of an operation */
static MPI_Win window;
static MPI_Info window_info = MPI_INFO_NULL; /* for the next window */
static MPI_Aint place;                       /* the displacement at the last rank: an address in a dynamic window */
static char *local_memory, *window_memory;

/* Memory that is attached to the window afterwards. */
static inline void open_dynamic_window(MPI_Aint size) {
    window_memory = malloc((size_t)size);
    memset(window_memory, 0, (size_t)size);
    MPI_Win_create_dynamic(window_info, MPI_COMM_WORLD, &window);
    MPI_Win_attach(window, window_memory, size);
    MPI_Get_address(window_memory, &place);
    MPI_Bcast(&place, 1, MPI_AINT, ranks - 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static inline void close_dynamic_window(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_detach(window, window_memory);
    MPI_Win_free(&window);
    free(window_memory);
    place = 0;
}

/* The memory of the library, or of the program. */
static inline void open_window(int allocated, MPI_Aint size) {
    if (allocated) {
        MPI_Win_allocate(size, 1, window_info, MPI_COMM_WORLD, &window_memory, &window);
    } else {
        window_memory = malloc((size_t)size);
        MPI_Win_create(window_memory, size, 1, window_info, MPI_COMM_WORLD, &window);
    }
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
    memset(window_memory, 0, (size_t)size);
    MPI_Win_unlock(rank, window);
    MPI_Barrier(MPI_COMM_WORLD);
}

static inline void close_window(int allocated) {
    MPI_Win_free(&window);
    if (!allocated) {
        free(window_memory);
    }
}

static inline double mean_of(void (*operation)(void), int rounds) {
    const double start = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        operation();
    }
    return (MPI_Wtime() - start) / rounds;
}

/* Microseconds of an operation of rank 0, while the others wait in MPI_Barrier: the median over chunks. */
static inline double time_of_origin(void (*operation)(void)) {
    enum { chunks = 7, most = 200000 };
    double samples[chunks] = {0};
    if (rank == 0) {
        mean_of(operation, 5);
        const double guess = 0.25 / BENCH_DIVISOR / chunks / mean_of(operation, 5);
        const int rounds = guess > most ? most : guess < 3 ? 3 : (int)guess;
        for (int k = 0; k < chunks; k++) {
            samples[k] = mean_of(operation, rounds) * 1e6;
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return metric_median(samples, chunks);
}
#endif
