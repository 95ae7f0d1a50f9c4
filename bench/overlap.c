/* SPDX-License-Identifier: BSD-3-Clause */
/* How much of MPI_Iallreduce of 1 MiB a computation hides: the operation alone, the computation alone, which is as
   long, and both, with ten calls of MPI_Test in the computation. As in osu_iallreduce of the OSU benchmarks, what is
   hidden is the part of the operation that does not prolong the computation, 1 - (both - computation) / operation, and
   what is spent in MPI_Test is not hidden. (There it is the mean of all ranks, here the slowest rank.)

   Where the processes of a node copy and join with their own cores, that work is done in the calls, and only waiting
   can be hidden. `hidable` is what would be hidden if a process did no more than copy 1 MiB from one buffer to another
   and join 1 MiB to a third one, without a system call, and waited for nothing. */
#include "metric.h"

#include <mpi.h>
#include <string.h>

enum { count = (1 << 20) / sizeof(double), tests = 10, chunks = 21, rounds = BENCH_DIVISOR > 1 ? 1 : 20 };

static double in[count], out[count], theirs[count];
static double last_wait; /* seconds in MPI_Wait, of one call of run() */

static double compute(long steps) {
    volatile double x = 1;
    for (long i = 0; i < steps; i++) {
        x = x * 1.0000001 + 1e-9;
    }
    return x;
}

static double slowest(double mine) {
    double worst;
    MPI_Allreduce(&mine, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return worst;
}

/* Either part may be left out. Seconds for one round. */
static double run(int operation, long steps) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    last_wait = 0;
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
        const double computed = MPI_Wtime();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        last_wait += MPI_Wtime() - computed;
    }
    return slowest((MPI_Wtime() - start) / rounds);
}

/* Seconds of the work that a process has at least. */
static double work(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        memcpy(out, theirs, sizeof out);
        MPI_Reduce_local(in, out, count, MPI_DOUBLE, MPI_SUM);
    }
    return slowest((MPI_Wtime() - start) / rounds);
}

int main(int argc, char** argv) {
    double alone[chunks], hidden[chunks], exposed[chunks], wait[chunks], least[chunks], hidable[chunks];
    int rank;
    long steps = 100000;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < count; i++) { /* pages of their own: all that were never written are one page of zeros */
        in[i] = theirs[i] = i;
    }
    run(1, 0);
    for (int i = 0; i < 3; i++) { /* the computation takes as long as the operation */
        steps = (long)((double)steps * run(1, 0) / run(0, steps)) + tests;
        MPI_Bcast(&steps, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    }
    for (int k = 0; k < chunks; k++) {
        const double operation = run(1, 0), computation = run(0, steps), both = run(1, steps);
        const double waited = slowest(last_wait / rounds), own = work();
        const double part = 100 * (1 - (both - computation) / operation);
        alone[k] = operation * 1e6;
        exposed[k] = (both - computation) * 1e6;
        hidden[k] = part > 0 ? part : 0;
        wait[k] = waited * 1e6;
        least[k] = own * 1e6;
        hidable[k] = own < operation ? 100 * (1 - own / operation) : 0;
    }
    if (rank == 0) {
        metric("iallreduce_1MiB", metric_median(alone, chunks), "us", "lower");
        metric("iallreduce_1MiB_exposed", metric_median(exposed, chunks), "us", "lower");
        metric("iallreduce_1MiB_last_wait", metric_median(wait, chunks), "us", "lower");
        metric("iallreduce_1MiB_least_work", metric_median(least, chunks), "us", "lower");
        metric("iallreduce_1MiB_hidable", metric_median(hidable, chunks), "percent", "higher");
        metric("iallreduce_1MiB_hidden", metric_median(hidden, chunks), "percent", "higher");
    }
    MPI_Finalize();
    return 0;
}
