/* SPDX-License-Identifier: BSD-3-Clause */
/* The smallest MPI program; it prints the longest MPI_Init of all ranks. Its wall time under mpirun is the start-up
   time of a job. */
#include "metric.h"
#include <mpi.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char** argv) {
    int rank;
    const double start = now();
    MPI_Init(&argc, &argv);
    double init = (now() - start) * 1e3, longest;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Reduce(&init, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        metric("MPI_Init", longest, "ms", "lower");
    }
    MPI_Finalize();
    return 0;
}
