/* SPDX-License-Identifier: BSD-3-Clause */
/* RandomAccess with messages: all ranks collect updates, and exchange them by MPI_Alltoall and MPI_Alltoallv. */
#include "random_access.h"

static uint64_t *table, *sorted, *received;
static int *counts, *starts, *received_counts, *received_starts;

static uint64_t* table_open(uint64_t own_words) {
    const size_t ranks = (size_t)size;
    table = malloc(own_words * sizeof *table);
    sorted = malloc(collected_at_most * sizeof *sorted);
    received = malloc(collected_at_most * ranks * sizeof *received);
    counts = malloc(4 * ranks * sizeof *counts);
    starts = counts + ranks;
    received_counts = starts + ranks;
    received_starts = received_counts + ranks;
    return table;
}

/* By the rank that has the word. */
static void sort(const uint64_t* values, int count) {
    for (int to = 0; to < size; ++to) {
        counts[to] = 0;
    }
    for (int i = 0; i < count; ++i) {
        ++counts[home_of(values[i])];
    }
    for (int to = 0, at = 0; to < size; ++to) {
        starts[to] = at;
        at += counts[to];
        counts[to] = 0;
    }
    for (int i = 0; i < count; ++i) {
        const int to = home_of(values[i]);
        sorted[starts[to] + counts[to]++] = values[i];
    }
}

static void table_update(const uint64_t* values, int count) {
    int total = 0;
    sort(values, count);
    MPI_Alltoall(counts, 1, MPI_INT, received_counts, 1, MPI_INT, MPI_COMM_WORLD);
    for (int from = 0; from < size; ++from) {
        received_starts[from] = total;
        total += received_counts[from];
    }
    MPI_Alltoallv(
        sorted, counts, starts, MPI_UINT64_T, received, received_counts, received_starts, MPI_UINT64_T, MPI_COMM_WORLD);
    for (int i = 0; i < total; ++i) {
        table[place_of(received[i])] ^= received[i];
    }
}

static void table_phase(void) {
    MPI_Barrier(MPI_COMM_WORLD);
}

static void table_close(void) {
    free(table);
    free(sorted);
    free(received);
    free(counts);
}
