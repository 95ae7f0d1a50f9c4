/* SPDX-License-Identifier: BSD-3-Clause */
/* What one nonblocking operation costs while many others are outstanding: MPI_Comm_idup, MPI_Iallreduce and generalized
 * requests, 10 to 10,000 at once, on 2 processes. For each number it prints the time from the start to the completion
 * of all, divided by their number, and the time of one MPI_Test of another request while they are outstanding. If the
 * library visits each outstanding operation in each poll, both grow with the number. Argument: the highest number. */
#include "metric.h"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

enum { tag = 1, repetitions = 5, tests = 2000 };

static int rank;

/* The time of one MPI_Test, in microseconds. The request does not complete meanwhile. What the operations have still to
 * send is sent first, by tests that are not timed. */
static double test_time(void) {
    char nothing;
    MPI_Request waiting;
    MPI_Irecv(&nothing, 0, MPI_CHAR, rank, tag + 1, MPI_COMM_WORLD, &waiting);
    int flag;
    const double begin = MPI_Wtime();
    while (MPI_Wtime() - begin < 0.05) {
        MPI_Test(&waiting, &flag, MPI_STATUS_IGNORE);
    }
    const double start = MPI_Wtime();
    for (int i = 0; i < tests; i++) {
        MPI_Test(&waiting, &flag, MPI_STATUS_IGNORE);
    }
    const double time = MPI_Wtime() - start;
    MPI_Cancel(&waiting);
    MPI_Wait(&waiting, MPI_STATUS_IGNORE);
    return time / tests * 1e6;
}

/* Rank 0 starts all operations, and rank 1 starts none before rank 0 has measured its tests. `start_one` starts the
 * operation with this number. */
static void measure_collective(
    int count, void (*start_one)(int, MPI_Request*), MPI_Request* requests, double* each, double* test) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0) {
        MPI_Recv(NULL, 0, MPI_CHAR, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    double start = MPI_Wtime();
    for (int i = 0; i < count; i++) {
        start_one(i, &requests[i]);
    }
    double time = MPI_Wtime() - start;
    if (rank == 0) {
        *test = test_time();
        MPI_Send(NULL, 0, MPI_CHAR, 1, tag, MPI_COMM_WORLD);
    }
    start = MPI_Wtime();
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    time += MPI_Wtime() - start;
    *each = time / count * 1e6;
}

static MPI_Comm* made;

static void start_idup(int i, MPI_Request* request) {
    MPI_Comm_idup(MPI_COMM_WORLD, &made[i], request);
}

static void idup(int count, double* each, double* test) {
    made = malloc(sizeof *made * (size_t)count);
    MPI_Request* requests = malloc(sizeof *requests * (size_t)count);
    measure_collective(count, start_idup, requests, each, test);
    for (int i = 0; i < count; i++) {
        MPI_Comm_free(&made[i]);
    }
    free(made);
    free(requests);
}

static double* sums;

/* A sum of 8 bytes. */
static void start_iallreduce(int i, MPI_Request* request) {
    static const double one = 1;
    MPI_Iallreduce(&one, &sums[i], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, request);
}

static void iallreduce(int count, double* each, double* test) {
    sums = malloc(sizeof *sums * (size_t)count);
    MPI_Request* requests = malloc(sizeof *requests * (size_t)count);
    measure_collective(count, start_iallreduce, requests, each, test);
    free(sums);
    free(requests);
}

static int query(void* state, MPI_Status* status) {
    (void)state;
    MPI_Status_set_elements(status, MPI_CHAR, 0);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}
static int release(void* state) {
    (void)state;
    return MPI_SUCCESS;
}
static int cancel(void* state, int complete) {
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

static void generalized(int count, double* each, double* test) {
    MPI_Request* requests = malloc(sizeof *requests * (size_t)count);
    double start = MPI_Wtime();
    for (int i = 0; i < count; i++) {
        MPI_Grequest_start(query, release, cancel, NULL, &requests[i]);
    }
    double time = MPI_Wtime() - start;
    *test = test_time();
    start = MPI_Wtime();
    for (int i = 0; i < count; i++) {
        MPI_Grequest_complete(requests[i]);
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    time += MPI_Wtime() - start;
    *each = time / count * 1e6;
    free(requests);
}

static void measure(const char* name, void (*run)(int, double*, double*), int count) {
    double each[repetitions], test[repetitions];
    for (int i = 0; i < repetitions; i++) {
        run(count, &each[i], &test[i]);
    }
    if (rank == 0) {
        char text[64];
        snprintf(text, sizeof text, "%s_%d", name, count);
        metric(text, metric_median(each, repetitions), "us", "lower");
        snprintf(text, sizeof text, "%s_test_%d", name, count);
        metric(text, metric_median(test, repetitions), "us", "lower");
    }
}

int main(int argc, char** argv) {
#ifdef __GLIBC__
    /* Fresh pages would cost more than the operations: memory that was freed is kept, and the first repetition touches
     * it. */
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TOP_PAD, 64 << 20);
#endif
    MPI_Init(&argc, &argv);
    int size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2) {
        fprintf(stderr, "%s: needs 2 processes\n", argv[0]);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    const int most = argc > 1 ? atoi(argv[1]) : 10000;
    for (int count = 10; count <= most; count *= 10) {
        measure("idup", idup, count);
    }
    for (int count = 10; count <= most; count *= 10) {
        measure("iallreduce", iallreduce, count);
    }
    for (int count = 10; count <= most; count *= 10) {
        measure("grequest", generalized, count);
    }
    MPI_Finalize();
    return 0;
}
