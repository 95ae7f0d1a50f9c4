/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks are the threads of a region of OpenMP, or, with argument "processes", the processes: half round trips
   between ranks 0 and 1 with one buffer and with two, MPI_Barrier, MPI_Allreduce, MPI_Reduce, and for threads the
   barrier and the array reduction of OpenMP, and start and finish. Build with -fopenmp. mpirun -n 1 --bind-to none
   threadcomm; mpirun -n 2 threadcomm processes. A rank that is bound to one core has its threads take turns on it. */
#include "metric.h"
#include <mpi.h>
#include <mpix.h>
#include <omp.h>
#include <string.h>

enum { chunks = 21 };

struct Place {
    MPI_Comm comm;
    int rank;
};

static double round_trips(struct Place at, char* out, char* in, int size, int rounds) {
    const double start = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        if (at.rank == 0) {
            MPI_Send(out, size, MPI_BYTE, 1, 1, at.comm);
            MPI_Recv(in, size, MPI_BYTE, 1, 1, at.comm, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(in, size, MPI_BYTE, 0, 1, at.comm, MPI_STATUS_IGNORE);
            MPI_Send(out, size, MPI_BYTE, 0, 1, at.comm);
        }
    }
    return (MPI_Wtime() - start) / rounds / 2;
}

/* A rank sends back what it has received: the lines of the message are always those that the other core wrote last. */
static double half_round_trip(struct Place at, char* buffer, int size, int rounds) {
    return round_trips(at, buffer, buffer, size, rounds);
}
/* As osu_latency: what is sent is never changed, so that a core that reads it has it in its cache. */
static double two_buffers(struct Place at, char* buffer, int size, int rounds) {
    return round_trips(at, buffer, buffer + (1 << 20), size, rounds);
}

static double barrier(struct Place at, char* buffer, int size, int rounds) {
    const double start = MPI_Wtime();
    (void)buffer, (void)size;
    for (int i = 0; i < rounds; i++) {
        MPI_Barrier(at.comm);
    }
    return (MPI_Wtime() - start) / rounds;
}

static double openmp_barrier(struct Place at, char* buffer, int size, int rounds) {
    const double start = MPI_Wtime();
    (void)at, (void)buffer, (void)size;
    for (int i = 0; i < rounds; i++) {
#pragma omp barrier
    }
    return (MPI_Wtime() - start) / rounds;
}

static double allreduce(struct Place at, char* buffer, int size, int rounds) {
    const double start = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        MPI_Allreduce(buffer, buffer + size, size / (int)sizeof(int), MPI_INT, MPI_SUM, at.comm);
    }
    return (MPI_Wtime() - start) / rounds;
}

static double reduce(struct Place at, char* buffer, int size, int rounds) {
    const double start = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        MPI_Reduce(buffer, buffer + (1 << 20), size / (int)sizeof(int), MPI_INT, MPI_SUM, 0, at.comm);
    }
    return (MPI_Wtime() - start) / rounds;
}

/* The data that the threads add up, which the clause takes by its name. */
static int* reduced;

/* Each thread adds its array to that of all, as MPI_Reduce does; the clause has a copy of the array in each thread. A
   function of its own, because the compiler takes the copies from the stack until the function returns. */
__attribute__((noinline)) static void reduce_by_openmp(const int* mine, int count) {
#pragma omp for schedule(static, 1) reduction(+ : reduced[:count])
    for (int thread = 0; thread < omp_get_num_threads(); thread++) {
        for (int k = 0; k < count; k++) {
            reduced[k] += mine[k];
        }
    }
}

static double openmp_reduce(struct Place at, char* buffer, int size, int rounds) {
    const double start = MPI_Wtime();
    (void)at;
    for (int i = 0; i < rounds; i++) {
        reduce_by_openmp((const int*)(void*)buffer, size / (int)sizeof(int));
    }
    return (MPI_Wtime() - start) / rounds;
}

static const struct {
    const char* name;
    double (*run)(struct Place at, char* buffer, int size, int rounds);
    int size, rounds, threads_only;
} cases[] = {
    {"half_round_trip_8B", half_round_trip, 8, 10000, 0},
    {"half_round_trip_1KiB", half_round_trip, 1024, 10000, 0},
    {"half_round_trip_4KiB", half_round_trip, 4096, 5000, 0},
    {"half_round_trip_64KiB", half_round_trip, 65536, 400, 0},
    {"half_round_trip_1MiB", half_round_trip, 1 << 20, 50, 0},
    {"two_buffers_1KiB", two_buffers, 1024, 10000, 0},
    {"two_buffers_4KiB", two_buffers, 4096, 5000, 0},
    {"two_buffers_64KiB", two_buffers, 65536, 400, 0},
    {"two_buffers_1MiB", two_buffers, 1 << 20, 50, 0},
    {"barrier", barrier, 0, 10000, 0},
    {"allreduce_8B", allreduce, 8, 10000, 0},
    {"openmp_barrier", openmp_barrier, 0, 10000, 1},
    {"reduce_1", reduce, 4, 10000, 0},
    {"openmp_reduce_1", openmp_reduce, 4, 10000, 1},
    {"reduce_1Ki", reduce, 4 << 10, 2000, 0},
    {"openmp_reduce_1Ki", openmp_reduce, 4 << 10, 2000, 1},
    {"reduce_8Ki", reduce, 4 << 13, 400, 0},
    {"openmp_reduce_8Ki", openmp_reduce, 4 << 13, 400, 1},
    {"reduce_64Ki", reduce, 4 << 16, 100, 0},
    {"openmp_reduce_64Ki", openmp_reduce, 4 << 16, 100, 1},
};

static void measure(struct Place at, int threads) {
    char* buffer = malloc(2 << 20);
#pragma omp single
    reduced = calloc(1 << 16, sizeof *reduced);
    memset(buffer, 1, 2 << 20);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double samples[chunks];
        if (cases[i].threads_only && !threads) {
            continue;
        }
        for (int chunk = 0; chunk < chunks; chunk++) {
            samples[chunk] = cases[i].run(at, buffer, cases[i].size, cases[i].rounds / BENCH_DIVISOR);
        }
        if (at.rank == 0) {
            metric(cases[i].name, metric_median(samples, chunks) * 1e6, "us", "lower");
        }
        MPI_Barrier(at.comm);
    }
    free(buffer);
#pragma omp barrier
#pragma omp single
    free(reduced);
}

static void measure_start(MPI_Comm comm) {
    double samples[chunks];
#pragma omp parallel num_threads(2)
    for (int chunk = 0; chunk < chunks; chunk++) {
        const double start = MPI_Wtime();
        for (int i = 0; i < 200 / BENCH_DIVISOR; i++) {
            MPIX_Threadcomm_start(comm);
            MPIX_Threadcomm_finish(comm);
        }
#pragma omp master
        samples[chunk] = (MPI_Wtime() - start) / (200 / BENCH_DIVISOR);
    }
    metric("start_and_finish", metric_median(samples, chunks) * 1e6, "us", "lower");
}

int main(int argc, char** argv) {
    struct Place world = {MPI_COMM_WORLD, 0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
    if (argc > 1 && strcmp(argv[1], "processes") == 0) {
        measure(world, 0);
    } else {
        MPI_Comm comm;
        MPIX_Threadcomm_init(MPI_COMM_WORLD, 2, &comm);
#pragma omp parallel num_threads(2)
        {
            struct Place at = {comm, 0};
            MPIX_Threadcomm_start(comm);
            MPI_Comm_rank(comm, &at.rank);
            measure(at, 1);
            MPIX_Threadcomm_finish(comm);
        }
        measure_start(comm);
        MPIX_Threadcomm_free(&comm);
    }
    MPI_Finalize();
    return 0;
}
