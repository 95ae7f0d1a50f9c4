/* SPDX-License-Identifier: BSD-3-Clause */
/* What the heat programs share: heat in a square plate, by Jacobi's method, in blocks on a grid of ranks. The border of
   the plate has a fixed temperature. A block is stored with a frame of one point, which holds the border of the
   neighbours' blocks, or of the plate. There are two copies of it, one for the even and one for the odd steps. */
#ifndef PATCHBAY_EXAMPLES_HEAT_H
#define PATCHBAY_EXAMPLES_HEAT_H
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { up, down, left, right, sides };

static MPI_Comm plate;       /* of the ranks, as a grid */
static int neighbour[sides]; /* MPI_PROC_NULL: the border of the plate */
static int points;           /* of each side of the plate, without its border */
static int rows, columns;    /* of the block of this rank */
static int first_row, first_column;
static double* grid[2];     /* of the steps with an even and with an odd number */
static MPI_Datatype column; /* of a block */

static double* point(double* block, int row, int col) {
    return block + (size_t)row * (size_t)(columns + 2) + col;
}

/* The points of a block that a neighbour needs, and the part of the frame with those of the neighbour. */
static double* edge(double* block, int side) {
    return side == up  ? point(block, 1, 1)
        : side == down ? point(block, rows, 1)
        : side == left ? point(block, 1, 1)
                       : point(block, 1, columns);
}
static double* frame(double* block, int side) {
    return side == up  ? point(block, 0, 1)
        : side == down ? point(block, rows + 1, 1)
        : side == left ? point(block, 1, 0)
                       : point(block, 1, columns + 1);
}
static int edge_count(int side) {
    return side == up || side == down ? columns : 1;
}
static MPI_Datatype edge_type(int side) {
    return side == up || side == down ? MPI_DOUBLE : column;
}
static int opposite(int side) {
    return side ^ 1;
}

/* Defined by each program. */
static void exchange_open(int steps);
/* Before step number `step`, from 0 on: afterwards the frame of grid[step % 2] has the neighbours' points. What is sent
   of grid[step % 2] is not changed before the next call. */
static void exchange(int step);
static void exchange_close(int steps);

/* In points of the plate; 0 and points + 1 are its border. */
static double temperature_at_first(int row, int col) {
    return row == 0 ? 100 : col == 0 ? 50 + row % 7 : (row * 31 + col * 17) % 10;
}

static void step_of(const double* old, double* new, int height, int width) {
    const size_t line = (size_t)width + 2;
    for (int row = 1; row <= height; ++row) {
        const double* const from = old + (size_t)row * line;
        double* const to = new + (size_t)row* line;
        for (int col = 1; col <= width; ++col) {
            to[col] = 0.25 * (from[col - line] + from[col + line] + from[col - 1] + from[col + 1]);
        }
    }
}

static void fill(double* block, int height, int width, int row_before, int column_before) {
    for (int row = 0; row < height + 2; ++row) {
        for (int col = 0; col < width + 2; ++col) {
            block[(size_t)row * ((size_t)width + 2) + (size_t)col] =
                temperature_at_first(row_before + row, column_before + col);
        }
    }
}

/* The points of this rank that differ from those of a computation without messages. */
static long compare_with_one_process(int steps, double* sum) {
    const size_t bytes = ((size_t)points + 2) * ((size_t)points + 2) * sizeof(double);
    double* whole[2] = {malloc(bytes), malloc(bytes)};
    long wrong = 0;
    fill(whole[0], points, points, 0, 0);
    memcpy(whole[1], whole[0], bytes);
    for (int i = 0; i < steps; ++i) {
        step_of(whole[i % 2], whole[1 - i % 2], points, points);
    }
    for (int row = 1; row <= rows; ++row) {
        for (int col = 1; col <= columns; ++col) {
            const double own = *point(grid[steps % 2], row, col);
            const size_t line = (size_t)(first_row + row) * ((size_t)points + 2);
            wrong += own != whole[steps % 2][line + (size_t)(first_column + col)];
            *sum += own;
        }
    }
    free(whole[0]);
    free(whole[1]);
    return wrong;
}

static void open_plate(void) {
    int size, rank, ranks[2] = {0, 0}, place[2], open[2] = {0, 0};
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, ranks);
    MPI_Cart_create(MPI_COMM_WORLD, 2, ranks, open, 1, &plate);
    MPI_Comm_rank(plate, &rank);
    MPI_Cart_coords(plate, rank, 2, place);
    MPI_Cart_shift(plate, 0, 1, &neighbour[up], &neighbour[down]);
    MPI_Cart_shift(plate, 1, 1, &neighbour[left], &neighbour[right]);
    first_row = (int)((long)points * place[0] / ranks[0]);
    first_column = (int)((long)points * place[1] / ranks[1]);
    rows = (int)((long)points * (place[0] + 1) / ranks[0]) - first_row;
    columns = (int)((long)points * (place[1] + 1) / ranks[1]) - first_column;
    for (int i = 0; i < 2; ++i) {
        grid[i] = malloc(((size_t)rows + 2) * ((size_t)columns + 2) * sizeof(double));
        fill(grid[i], rows, columns, first_row, first_column);
    }
    MPI_Type_vector(rows, 1, columns + 2, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
}

/* The time of a step, in microseconds. */
static double run(int steps) {
    exchange_open(steps);
    MPI_Barrier(plate);
    const double start = MPI_Wtime();
    for (int i = 0; i < steps; ++i) {
        exchange(i);
        step_of(grid[i % 2], grid[1 - i % 2], rows, columns);
    }
    const double own = (MPI_Wtime() - start) / steps * 1e6;
    exchange_close(steps);
    return own;
}

static const char* way = ""; /* of the exchange */

/* PROGRAM [POINTS of a side [STEPS [WAY]]] */
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    points = argc > 1 ? atoi(argv[1]) : 256;
    const int steps = argc > 2 ? atoi(argv[2]) : 1000;
    way = argc > 3 ? argv[3] : "";
    long wrong, all_wrong;
    double sum = 0, total, slowest;
    int rank;
    open_plate();
    MPI_Comm_rank(plate, &rank);
    const double own = run(steps);
    wrong = compare_with_one_process(steps, &sum);
    MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, plate);
    MPI_Reduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, plate);
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_LONG, MPI_SUM, plate);
    if (rank == 0) {
        printf("METRIC heat_step %.6g us lower\n", slowest);
        printf("RESULT %.17g\n", total);
        printf("%s: %d steps of %d x %d points, %ld of them wrong\n", all_wrong == 0 ? "verified" : "FAILED", steps,
            points, points, all_wrong);
    }
    MPI_Type_free(&column);
    MPI_Comm_free(&plate);
    free(grid[0]);
    free(grid[1]);
    MPI_Finalize();
    return all_wrong != 0;
}
#endif
