/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of waiting ranks for a rank that computes: rank 0 computes with a thread on each core while all other ranks
   wait in MPI_Barrier. Alternately it does the same computation while the other ranks sleep in the kernel, outside of
   MPI. The ratio of the two times is the cost. */
#define _GNU_SOURCE
#include "metric.h"
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

enum { pairs = BENCH_DIVISOR > 1 ? 1 : 9, most_threads = 256 };

static long steps; /* of one thread */

static void* compute(void* core) {
    cpu_set_t set;
    volatile double sink;
    double x = 1;
    CPU_ZERO(&set);
    CPU_SET((int)(long)core, &set);
    sched_setaffinity(0, sizeof set, &set); /* replaces the binding by the launcher */
    for (long i = 0; i < steps; i++) {
        x = x * 1.0000001 + 1e-9;
    }
    sink = x;
    (void)sink;
    return NULL;
}

static double compute_on_all_cores(void) {
    pthread_t threads[most_threads];
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    const int count = online > most_threads ? most_threads : (int)online;
    const double start = MPI_Wtime();
    for (int i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, compute, (void*)(long)i) != 0) {
            fprintf(stderr, "quiescence: no thread for core %d\n", i);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
    return MPI_Wtime() - start;
}

/* Some 150 ms of work. */
static void choose_steps(void) {
    steps = 10 * 1000 * 1000;
    const double trial = compute_on_all_cores();
    steps = (long)((double)steps * 0.15 / trial);
}

static void sleep_for(double seconds) {
    const struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&time, NULL);
}

int main(int argc, char** argv) {
    double alone[pairs], beside[pairs], slowdown[pairs];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int k = -1; k < pairs; k++) {
        double time = 0;
        if (rank != 0) {
            sleep_for(0.6); /* longer than the computation */
        } else {
            sleep_for(0.02); /* by then the other ranks sleep */
            if (k < 0) {
                choose_steps(); /* also the warm-up */
            } else {
                time = alone[k] = compute_on_all_cores() * 1e3;
            }
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0 && k >= 0) {
            sleep_for(0.02); /* by then the other ranks wait in MPI_Barrier */
            beside[k] = compute_on_all_cores() * 1e3;
            slowdown[k] = (beside[k] / time - 1) * 100;
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0) {
        metric("compute_alone", metric_median(alone, pairs), "ms", "lower");
        metric("compute_beside_barrier", metric_median(beside, pairs), "ms", "lower");
        metric("slowdown", metric_median(slowdown, pairs), "percent", "lower");
    }
    MPI_Finalize();
    return 0;
}
