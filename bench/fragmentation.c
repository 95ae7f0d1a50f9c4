/* SPDX-License-Identifier: BSD-3-Clause */
/* fragmentation [COMMUNICATORS]: us per MPI_Comm_dup, first without other communicators, then after each process has
   duplicated MPI_COMM_SELF so many times (4,000 by default, or as many as the library supports) and has freed every
   second duplicate. Odd ranks free the other half, so that the free indices differ between the ranks. */
#include "metric.h"
#include <mpi.h>

enum { most = 4000, chunks = 7 };
static const int more = 100; /* per sample */

/* Only MPI_Comm_dup is timed. */
static double make_some(void) {
    static MPI_Comm comms[100];
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < more; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    }
    double mean = (MPI_Wtime() - start) / more * 1e6, worst;
    MPI_Allreduce(&mean, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < more; i++) {
        MPI_Comm_free(&comms[i]);
    }
    return worst;
}

/* A library may refuse: it finds no index that is free everywhere. */
static int can_make(void) {
    MPI_Comm comm;
    if (MPI_Comm_dup(MPI_COMM_WORLD, &comm) != MPI_SUCCESS) {
        return 0;
    }
    MPI_Comm_free(&comm);
    return 1;
}

static void measure(const char* name, int rank) {
    double samples[chunks];
    if (!can_make()) {
        fprintf(stderr, "fragmentation: %s: no communicator can be made here\n", name);
        return;
    }
    make_some();
    for (int k = 0; k < chunks; k++) {
        samples[k] = make_some();
    }
    if (rank == 0) {
        metric(name, metric_median(samples, chunks), "us", "lower");
    }
}

int main(int argc, char** argv) {
    static MPI_Comm own[most];
    int rank, wanted = argc > 1 ? atoi(argv[1]) : most, count = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    measure("dup", rank);
    wanted = wanted > most ? most : wanted;
    while (count < wanted && MPI_Comm_dup(MPI_COMM_SELF, &own[count]) == MPI_SUCCESS) {
        count++;
    }
    MPI_Allreduce(&count, &wanted, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0) {
        fprintf(stderr, "fragmentation: %d communicators, every second one freed\n", wanted);
    }
    for (int i = 0; i < count; i++) {
        if (i >= wanted || i % 2 == rank % 2) {
            MPI_Comm_free(&own[i]);
        }
    }
    measure("dup_fragmented", rank);
    for (int i = 0; i < wanted; i++) {
        if (i % 2 != rank % 2) {
            MPI_Comm_free(&own[i]);
        }
    }
    MPI_Finalize();
    return 0;
}
