/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two circular buffers share. Each rank fills blocks of doubles for the next rank, in a buffer of five slots,
   and reads those of the previous one. The program including this defines the five functions below. */
#ifndef PATCHBAY_EXAMPLES_CIRCULAR_BUFFER_H
#define PATCHBAY_EXAMPLES_CIRCULAR_BUFFER_H
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { slots = 5, block = 1024 };

static double outgoing[slots * block], incoming[slots * block];
static int rank, size, next, previous;

static void buffer_open(void);
/* Block number `number` is being written to its slot of `outgoing`, or may be written now. Waits for that. */
static void buffer_may_fill(long number);
/* It is there: it is sent. */
static void buffer_filled(long number);
/* Waits until block number `number` is in its slot of `incoming`. */
static void buffer_may_read(long number);
/* It has been read: its slot may be overwritten by a later block, if there is one. */
static void buffer_was_read(long number, long blocks);
static void buffer_close(long blocks);

static uint64_t scrambled(uint64_t value) {
    value = (value ^ (value >> 31)) * 0x9e3779b97f4a7c15u;
    return value ^ (value >> 29);
}
static double value_of(int of, long number, int at) {
    return (double)(scrambled((uint64_t)number * 65536 + (uint64_t)of) % 1000000) + at;
}

/* Fills one block a step, and reads one that is a few steps old, so that several are under way. */
static double run(long blocks, long* wrong) {
    const int behind = slots - 1;
    double sum = 0;
    for (long step = 0; step < blocks + behind; ++step) {
        if (step < blocks) {
            double* const slot = outgoing + step % slots * block;
            buffer_may_fill(step);
            for (int i = 0; i < block; ++i) {
                slot[i] = value_of(rank, step, i);
            }
            buffer_filled(step);
        }
        const long number = step - behind;
        if (number >= 0) {
            const double* const slot = incoming + number % slots * block;
            buffer_may_read(number);
            for (int i = 0; i < block; ++i) {
                *wrong += slot[i] != value_of(previous, number, i);
                sum += slot[i];
            }
            buffer_was_read(number, blocks);
        }
    }
    return sum;
}

/* PROGRAM [BLOCKS] */
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    const long blocks = argc > 1 ? atol(argv[1]) : 20000;
    long wrong = 0, all_wrong;
    buffer_open();
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    double sum = run(blocks, &wrong), total, seconds = MPI_Wtime() - start, slowest;
    buffer_close(blocks);
    MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("METRIC block_rate %.6g M/s higher\n", (double)blocks / slowest / 1e6);
        printf("RESULT %.17g\n", total);
        printf("%s: %ld blocks for each of %d ranks, %ld numbers of them wrong\n",
            all_wrong == 0 ? "verified" : "FAILED", blocks, size, all_wrong);
    }
    MPI_Finalize();
    return all_wrong != 0;
}
#endif
