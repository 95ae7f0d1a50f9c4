/* SPDX-License-Identifier: BSD-3-Clause */
/* Times an operation in which all ranks of a communicator take part. */
#ifndef PATCHBAY_BENCH_REPEAT_H
#define PATCHBAY_BENCH_REPEAT_H
#include "metric.h"
#include <mpi.h>

struct repeated {
    const char* name;
    void (*operation)(void* context);
    void (*undo)(void* context); /* after each chunk, not timed; may be NULL */
    void* context;
    int most; /* rounds of a chunk */
};

/* The mean of some rounds on the slowest rank, in seconds. */
static inline double repeat_mean(const struct repeated* what, MPI_Comm comm, int rounds) {
    MPI_Barrier(comm);
    const double start = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        what->operation(what->context);
    }
    double mean = (MPI_Wtime() - start) / rounds, worst;
    if (what->undo != NULL) {
        what->undo(what->context);
    }
    MPI_Allreduce(&mean, &worst, 1, MPI_DOUBLE, MPI_MAX, comm);
    return worst;
}

/* The median over chunks, in microseconds, as a METRIC. The number of rounds adapts itself, because an MPI that does
   not yield needs a time slice for each where ranks share cores: about half a second a figure. */
static inline void repeat(const struct repeated* what, MPI_Comm comm) {
    enum { chunks = 7 };
    double samples[chunks];
    int rank, rounds;
    MPI_Comm_rank(comm, &rank);
    repeat_mean(what, comm, 5); /* warm-up */
    rounds = (int)(0.5 / BENCH_DIVISOR / chunks / repeat_mean(what, comm, 4));
    rounds = rounds < 3 ? 3 : rounds > what->most ? what->most : rounds;
    MPI_Bcast(&rounds, 1, MPI_INT, 0, comm);
    for (int k = 0; k < chunks; k++) {
        samples[k] = repeat_mean(what, comm, rounds) * 1e6;
    }
    if (rank == 0) {
        metric(what->name, metric_median(samples, chunks), "us", "lower");
    }
}
#endif
