/* SPDX-License-Identifier: BSD-3-Clause */
/* The product of a sparse matrix (27-point stencil, compressed rows) and a vector, whose planes at the borders are
   exchanged before each product. The ranks are the threads of a region of OpenMP, or, with argument "processes", the
   processes. Build with -fopenmp. mpirun -n 1 spmv; mpirun -n 2 spmv processes. */
#include "metric.h"
#include <mpi.h>
#include <mpix.h>
#include <omp.h>
#include <string.h>

enum { chunks = 21, ranks_wanted = 2 };

/* A rank's planes of the grid: edge x edge cells each; x has one plane more at both ends. */
struct Slab {
    MPI_Comm comm;
    int rank, size, edge, planes;
    int* starts;
    int* columns;
    double *values, *x, *y;
};

static void fill(struct Slab* slab) {
    const int edge = slab->edge, plane = edge * edge, rows = plane * slab->planes;
    const int first = slab->rank * slab->planes, all = slab->size * slab->planes;
    int count = 0;
    slab->starts = malloc(sizeof(int) * (size_t)(rows + 1));
    slab->columns = malloc(sizeof(int) * (size_t)rows * 27);
    slab->values = malloc(sizeof(double) * (size_t)rows * 27);
    slab->x = calloc((size_t)(rows + 2 * plane), sizeof(double));
    slab->y = calloc((size_t)rows, sizeof(double));
    for (int row = 0; row < rows; row++) {
        const int at[3] = {row % edge, row / edge % edge, row / plane};
        slab->starts[row] = count;
        for (int i = 0; i < 27; i++) {
            const int to[3] = {at[0] + i % 3 - 1, at[1] + i / 3 % 3 - 1, at[2] + i / 9 - 1};
            if (to[0] >= 0 && to[0] < edge && to[1] >= 0 && to[1] < edge && first + to[2] >= 0 && first + to[2] < all) {
                slab->columns[count] = (to[2] + 1) * plane + to[1] * edge + to[0];
                slab->values[count++] = i == 13 ? 26.0 : -1.0;
            }
        }
        slab->x[plane + row] = 1 + row % 7;
    }
    slab->starts[rows] = count;
}

static void free_slab(struct Slab* slab) {
    free(slab->starts);
    free(slab->columns);
    free(slab->values);
    free(slab->x);
    free(slab->y);
}

static void exchange(struct Slab* slab) {
    const int plane = slab->edge * slab->edge, last = plane * slab->planes;
    const int below = slab->rank > 0 ? slab->rank - 1 : MPI_PROC_NULL;
    const int above = slab->rank + 1 < slab->size ? slab->rank + 1 : MPI_PROC_NULL;
    MPI_Request requests[4];
    MPI_Irecv(slab->x, plane, MPI_DOUBLE, below, 0, slab->comm, &requests[0]);
    MPI_Irecv(slab->x + plane + last, plane, MPI_DOUBLE, above, 0, slab->comm, &requests[1]);
    MPI_Isend(slab->x + plane, plane, MPI_DOUBLE, below, 0, slab->comm, &requests[2]);
    MPI_Isend(slab->x + last, plane, MPI_DOUBLE, above, 0, slab->comm, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void multiply(struct Slab* slab) {
    const int rows = slab->edge * slab->edge * slab->planes;
    for (int row = 0; row < rows; row++) {
        double sum = 0;
        for (int i = slab->starts[row]; i < slab->starts[row + 1]; i++) {
            sum += slab->values[i] * slab->x[slab->columns[i]];
        }
        slab->y[row] = sum;
    }
}

static double products(struct Slab* slab, int rounds, int with_product) {
    MPI_Barrier(slab->comm);
    const double start = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        exchange(slab);
        if (with_product) {
            multiply(slab);
        }
    }
    MPI_Barrier(slab->comm);
    return (MPI_Wtime() - start) / rounds;
}

static void measure(MPI_Comm comm) {
    static const struct { int edge, rounds; } cases[] = {{8, 4000}, {16, 1000}, {32, 200}, {64, 30}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct Slab slab = {.comm = comm, .edge = cases[i].edge, .planes = cases[i].edge / ranks_wanted};
        const int rounds = cases[i].rounds / BENCH_DIVISOR > 0 ? cases[i].rounds / BENCH_DIVISOR : 1;
        double whole[chunks], exchanged[chunks];
        char name[64];
        MPI_Comm_rank(comm, &slab.rank);
        MPI_Comm_size(comm, &slab.size);
        fill(&slab);
        for (int chunk = 0; chunk < chunks; chunk++) {
            whole[chunk] = products(&slab, rounds, 1);
            exchanged[chunk] = products(&slab, rounds, 0);
        }
        if (slab.rank == 0) {
            snprintf(name, sizeof name, "product_%d", slab.edge);
            metric(name, metric_median(whole, chunks) * 1e6, "us", "lower");
            snprintf(name, sizeof name, "exchange_%d", slab.edge);
            metric(name, metric_median(exchanged, chunks) * 1e6, "us", "lower");
        }
        free_slab(&slab);
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc > 1 && strcmp(argv[1], "processes") == 0) {
        measure(MPI_COMM_WORLD);
    } else {
        MPI_Comm comm;
        MPIX_Threadcomm_init(MPI_COMM_WORLD, ranks_wanted, &comm);
#pragma omp parallel num_threads(ranks_wanted)
        {
            MPIX_Threadcomm_start(comm);
            measure(comm);
            MPIX_Threadcomm_finish(comm);
        }
        MPIX_Threadcomm_free(&comm);
    }
    MPI_Finalize();
    return 0;
}
