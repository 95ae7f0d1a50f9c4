/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two programs of the benchmark share, which follows the rules of HPC Challenge's RandomAccess: a table of
 * 64-bit words over all ranks, random words of which each rank changes by exclusive or, four times as often as the
 * table has words; no rank may collect more than 1,024 updates before it carries them out. The same updates once more
 * must restore the table. The program that includes this header defines the four functions below. */
#ifndef EXAMPLES_RANDOM_ACCESS_H
#define EXAMPLES_RANDOM_ACCESS_H
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { collected_at_most = 1024 };

/* The words of this rank. */
static uint64_t* table_open(uint64_t words);
/* Carries out updates: word (value % all words) of the table changes by value. */
static void table_update(const uint64_t* values, int count);
/* When all ranks have called it, all updates are visible. */
static void table_phase(void);
static void table_close(void);

static int rank, size;
static uint64_t words; /* of each rank */

static int home_of(uint64_t value) {
    return (int)(value % (words * (uint64_t)size) / words);
}

static uint64_t place_of(uint64_t value) {
    return value % words;
}

/* The benchmark's sequence: the powers of x modulo x^63 + x^2 + x + 1 over GF(2), from a place of each rank. */
static uint64_t next_value(uint64_t value) {
    return (value << 1) ^ ((int64_t)value < 0 ? 7u : 0u);
}

static uint64_t first_value(void) {
    uint64_t value = ((uint64_t)rank + 1) * 0x9e3779b97f4a7c15u;
    return (value ^ (value >> 29)) | 1;
}

static double update_all(uint64_t updates) {
    uint64_t values[collected_at_most], value = first_value();
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (uint64_t done = 0; done < updates; done += collected_at_most) {
        for (int i = 0; i < collected_at_most; ++i) {
            values[i] = value = next_value(value);
        }
        table_update(values, collected_at_most);
    }
    table_phase();
    return MPI_Wtime() - start;
}

/* PROGRAM [WORDS of each rank] */
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    words = argc > 1 ? strtoull(argv[1], NULL, 10) : 1u << 16;
    const uint64_t updates = 4 * words / collected_at_most * collected_at_most;
    uint64_t *table = table_open(words), wrong = 0, changed = 0, sums[2];
    for (uint64_t i = 0; i < words; ++i) {
        table[i] = (uint64_t)rank * words + i;
    }
    table_phase();
    double seconds = update_all(updates), slowest;
    for (uint64_t i = 0; i < words; ++i) {
        changed += table[i] != (uint64_t)rank * words + i;
    }
    update_all(updates);
    for (uint64_t i = 0; i < words; ++i) {
        wrong += table[i] != (uint64_t)rank * words + i;
    }
    table_phase();
    table_close();
    const uint64_t mine[2] = {wrong, changed};
    MPI_Allreduce(mine, sums, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    const int right = sums[0] == 0 && (updates == 0 || sums[1] > words / 2);
    if (rank == 0) {
        printf("METRIC update_rate %.6g M/s higher\n", (double)updates * size / slowest / 1e6);
        printf("%s: %llu words on %d ranks, %llu of them changed, %llu of them wrong\n", right ? "verified" : "FAILED",
            (unsigned long long)(words * (uint64_t)size), size, (unsigned long long)sums[1],
            (unsigned long long)sums[0]);
    }
    MPI_Finalize();
    return !right;
}
#endif
