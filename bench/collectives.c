/* SPDX-License-Identifier: BSD-3-Clause */
/* Mean time of MPI_Barrier and of an 8-byte MPI_Allreduce over all ranks. The number of rounds adapts itself, because
   an MPI that does not yield needs a time slice for each: about half a second a figure. */
#include "metric.h"
#include <mpi.h>

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void allreduce(void)
{
    double in = 1, out;
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static double mean_of(void (*operation)(void), int rounds)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        operation();
    }
    double mean = (MPI_Wtime() - start) / rounds, worst;
    MPI_Allreduce(&mean, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return worst;
}

static void measure(const char *name, void (*operation)(void), int rank)
{
    enum { chunks = 7 };
    double samples[chunks];
    double trial = mean_of(operation, 20);
    int rounds = (int)(0.5 / chunks / trial);
    rounds = rounds < 5 ? 5 : rounds > 20000 ? 20000 : rounds;
    MPI_Bcast(&rounds, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int k = 0; k < chunks; k++) {
        samples[k] = mean_of(operation, rounds) * 1e6;
    }
    if (rank == 0) {
        metric(name, metric_median(samples, chunks), "us", "lower");
    }
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    measure("barrier", barrier, rank);
    measure("allreduce_8B", allreduce, rank);
    MPI_Finalize();
    return 0;
}
