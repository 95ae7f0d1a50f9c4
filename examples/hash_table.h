/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two programs of the distributed hash table share: the entries, the work, its verification and the rates. The
 * program that includes this header defines the five functions below.
 *
 * The table has the same number of places on each rank. A key belongs to one rank, and is there at the first free place
 * from the one that its hash names. Key 0 means that a place is free. */
#ifndef EXAMPLES_HASH_TABLE_H
#define EXAMPLES_HASH_TABLE_H
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void table_open(void);
static void table_insert(uint64_t key, uint64_t value); /* the key is not in the table yet */
static uint64_t table_find(uint64_t key);               /* its value; 0: the key is not there */
/* When all ranks have called it, all insertions are visible to all. Returns how many keys this rank stores. */
static uint64_t table_phase(void);
static void table_close(void);

static int rank, size;
static uint64_t keys = 20000; /* of each rank */
static uint64_t places;       /* on each rank */

static uint64_t mixed(uint64_t bits) {
    bits = (bits ^ (bits >> 31)) * 0x7fb5d329728ea185u;
    bits = (bits ^ (bits >> 27)) * 0x81dadef4bc2dd44du;
    return bits ^ (bits >> 33);
}

static uint64_t key_of(int owner, uint64_t number) {
    return mixed((uint64_t)owner << 40 | (number + 1)) | 1;
}

static uint64_t value_of(uint64_t key) {
    return mixed(key + 77) | 1;
}

static int home_of(uint64_t key) {
    return (int)(mixed(key) % (uint64_t)size);
}

static uint64_t place_of(uint64_t key, uint64_t probe) {
    return (mixed(key ^ 0x9e3779b97f4a7c15u) + probe) % places;
}

static void print_rate(const char* what, double seconds) {
    double slowest;
    MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("METRIC %s %.6g M/s higher\n", what, (double)keys * size / slowest / 1e6);
    }
}

/* Each rank inserts its keys, then finds those of its neighbour. Returns what is wrong. */
static uint64_t run(void) {
    const int neighbour = (rank + 1) % size;
    uint64_t wrong = 0, stored, total;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (uint64_t i = 0; i < keys; ++i) {
        const uint64_t key = key_of(rank, i);
        table_insert(key, value_of(key));
    }
    stored = table_phase();
    print_rate("insert_rate", MPI_Wtime() - start);
    MPI_Allreduce(&stored, &total, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    wrong += total != keys * (uint64_t)size;

    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    for (uint64_t i = 0; i < keys; ++i) {
        const uint64_t key = key_of(neighbour, i);
        wrong += table_find(key) != value_of(key);
    }
    table_phase();
    print_rate("find_rate", MPI_Wtime() - start);
    /* Keys that nobody has inserted. */
    for (uint64_t i = 0; i < 100; ++i) {
        wrong += table_find(key_of(size + rank, i)) != 0;
    }
    table_phase();
    return wrong;
}

/* PROGRAM [KEYS of each rank] */
int main(int argc, char** argv) {
    uint64_t wrong, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1) {
        keys = strtoull(argv[1], NULL, 10);
    }
    places = 2 * keys + 1000;
    table_open();
    wrong = run();
    table_close();
    MPI_Allreduce(&wrong, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf(sum == 0 ? "verified: %llu keys on %d ranks\n" : "FAILED: of %llu keys on %d ranks, %llu are wrong\n",
            (unsigned long long)(keys * (uint64_t)size), size, (unsigned long long)sum);
    }
    MPI_Finalize();
    return sum != 0;
}
#endif
