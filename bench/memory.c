/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that the library takes in each process: Pss, in which a page of several processes counts for its share, after
   MPI_Init and after five times MPI_Alltoall of 20 kB to each process; the buffers of the program have been given back.
   With the time of the first two MPI_Alltoall. */
#define _GNU_SOURCE
#include "metric.h"
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { block = 20000, rounds = 5, timed_rounds = 2 };

static double pss_mb(void) {
    FILE* file = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    long kib = -1;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "Pss:", 4) == 0) {
            sscanf(line + 4, "%ld", &kib);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    if (kib < 0) {
        fprintf(stderr, "memory: no Pss in /proc/self/smaps_rollup\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return (double)kib * 1024 / 1e6;
}

static char* take(size_t bytes) {
    void* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("memory: mmap");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

static void report(const char* name, double value, int size) {
    double sum = 0, most = 0;
    MPI_Reduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&value, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (sum > 0) {
        char of_most[64];
        snprintf(of_most, sizeof of_most, "%s_most", name);
        metric(name, sum / size, "MB", "lower");
        metric(of_most, most, "MB", "lower");
    }
}

int main(int argc, char** argv) {
    int rank, size;
    double two = 0, after_init, start;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD); /* a page that other processes have still to map would count in full */
    after_init = pss_mb();
    MPI_Barrier(MPI_COMM_WORLD);
    const size_t bytes = (size_t)size * block;
    char* out = take(bytes);
    char* in = take(bytes);
    memset(out, 1, bytes);
    memset(in, 2, bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    for (int round = 0; round < rounds; ++round) {
        for (int peer = 0; peer < size; ++peer) {
            out[(size_t)peer * block] = out[(size_t)peer * block + block - 1] = (char)(rank + peer + round);
        }
        MPI_Alltoall(out, block, MPI_BYTE, in, block, MPI_BYTE, MPI_COMM_WORLD);
        for (int peer = 0; peer < size; ++peer) {
            const char expected = (char)(rank + peer + round);
            if (in[(size_t)peer * block] != expected || in[(size_t)peer * block + block - 1] != expected) {
                fprintf(stderr, "memory: wrong data from rank %d\n", peer);
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
        }
        if (round + 1 == timed_rounds) {
            MPI_Barrier(MPI_COMM_WORLD);
            two = (MPI_Wtime() - start) * 1e3;
        }
    }
    munmap(out, bytes);
    munmap(in, bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    const double after = pss_mb();
    MPI_Barrier(MPI_COMM_WORLD);
    report("pss_init", after_init, size);
    report("pss_alltoall", after, size);
    if (rank == 0) {
        metric("two_alltoalls", two, "ms", "lower");
    }
    MPI_Finalize();
    return 0;
}
