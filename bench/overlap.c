/* SPDX-License-Identifier: BSD-3-Clause */
/* How much of a computation MPI_Iallreduce of 1 MiB runs beside: the operation alone, the computation alone, which is
   as long, and both, with ten calls of MPI_Test in the computation. The part of the computation that is hidden is
   (operation + computation - both) / computation; it cannot exceed what the operation waits without using the core. */
#include "metric.h"

#include <mpi.h>

enum { count = (1 << 20) / sizeof(double), tests = 10, chunks = 21, rounds = BENCH_DIVISOR > 1 ? 1 : 20 };

static double in[count], out[count];

static double compute(long steps) {
    volatile double x = 1;
    for (long i = 0; i < steps; i++) {
        x = x * 1.0000001 + 1e-9;
    }
    return x;
}

/* Either part may be left out. Seconds for one round. */
static double run(int operation, long steps) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        MPI_Request request = MPI_REQUEST_NULL;
        if (operation) {
            MPI_Iallreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        }
        for (int k = 0; steps > 0 && k < tests; k++) {
            int done;
            compute(steps / tests);
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    double mine = (MPI_Wtime() - start) / rounds, worst;
    MPI_Allreduce(&mine, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return worst;
}

int main(int argc, char** argv) {
    double alone[chunks], hidden[chunks];
    int rank;
    long steps = 100000;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    run(1, 0);
    for (int i = 0; i < 3; i++) { /* the computation takes as long as the operation */
        steps = (long)((double)steps * run(1, 0) / run(0, steps)) + tests;
        MPI_Bcast(&steps, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    }
    for (int k = 0; k < chunks; k++) {
        const double operation = run(1, 0), computation = run(0, steps), both = run(1, steps);
        alone[k] = operation * 1e6;
        hidden[k] = 100 * (operation + computation - both) / computation;
    }
    if (rank == 0) {
        metric("iallreduce_1MiB", metric_median(alone, chunks), "us", "lower");
        metric("iallreduce_1MiB_hidden", metric_median(hidden, chunks), "percent", "higher");
    }
    MPI_Finalize();
    return 0;
}
