/* SPDX-License-Identifier: BSD-3-Clause */
/* Passive targets that do not call the library: counters under exclusive locks, sums under shared ones, and fetched
 * counters, with more processes than cores. */
#define _GNU_SOURCE
#include "tests/mpi_check/check.h"

#include <stdlib.h>
#include <unistd.h>

enum { rounds = 40, numbers = 5 };

static int rank, size;

/* A read, a pause and a write under an exclusive lock: no increment is lost. */
static void exclusive_counters(MPI_Win win) {
    for (int i = 0; i < rounds; ++i) {
        const int target = (rank + i) % size;
        long value = -1;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
        MPI_Get(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
        MPI_Win_flush(target, win);
        if (i % 16 == 0) {
            usleep(500);
        }
        ++value;
        MPI_Put(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
        MPI_Win_unlock(target, win);
    }
}

static void shared_sums(MPI_Win win) {
    const long one = 1;
    for (int i = 0; i < rounds; ++i) {
        const int target = (rank * 3 + i) % size;
        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
        MPI_Accumulate(&one, 1, MPI_LONG, target, 1, 1, MPI_LONG, MPI_SUM, win);
        MPI_Win_unlock(target, win);
    }
}

/* Every number is given to one process once, so that the numbers have that sum. */
static void fetched_numbers(MPI_Win win) {
    const long one = 1;
    long sum = 0, last = -1, all = 0;
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < rounds; ++i) {
        long number = -1;
        MPI_Fetch_and_op(&one, &number, MPI_LONG, 0, 2, MPI_SUM, win);
        MPI_Win_flush(0, win);
        CHECK(number > last);
        last = number;
        sum += number;
    }
    MPI_Win_unlock_all(win);
    MPI_Reduce(&sum, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        const long count = (long)rounds * size;
        CHECK_EQUAL(all, count * (count - 1) / 2);
    }
}

/* A lock made of compare-and-swap protects a number that is read and written by get and put. */
static void swapped_lock(MPI_Win win) {
    const int mine = rank + 1, nobody = 0;
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < rounds / 8; ++i) {
        int before = -1;
        do {
            MPI_Compare_and_swap(&mine, &nobody, &before, MPI_INT, 0, 3, win);
            MPI_Win_flush(0, win);
            if (before != nobody) {
                usleep(50);
            }
        } while (before != nobody);
        int value = -1;
        MPI_Get(&value, 1, MPI_INT, 0, 4, 1, MPI_INT, win);
        MPI_Win_flush(0, win);
        ++value;
        MPI_Put(&value, 1, MPI_INT, 0, 4, 1, MPI_INT, win);
        MPI_Win_flush(0, win);
        MPI_Compare_and_swap(&nobody, &mine, &before, MPI_INT, 0, 3, win);
        MPI_Win_flush(0, win);
        CHECK_EQUAL(before, mine);
    }
    MPI_Win_unlock_all(win);
}

static void test(MPI_Win win, volatile long* counters) {
    long* longs;
    int flag = 0;
    MPI_Win_get_attr(win, MPI_WIN_BASE, &longs, &flag);
    CHECK(flag && longs == counters);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    for (int i = 0; i < numbers; ++i) {
        counters[i] = 0;
    }
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    exclusive_counters(win);
    shared_sums(win);
    fetched_numbers(win);
    MPI_Barrier(MPI_COMM_WORLD);

    swapped_lock(win);
    MPI_Barrier(MPI_COMM_WORLD);

    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    MPI_Win_sync(win);
    long mine[2] = {counters[0], counters[1]}, all[2];
    if (rank == 0) {
        CHECK_EQUAL(counters[2], (long)rounds * size);
        CHECK_EQUAL(*(volatile int*)&counters[4], rounds / 8 * size);
    }
    MPI_Win_unlock(rank, win);
    MPI_Allreduce(mine, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQUAL(all[0], (long)rounds * size);
    CHECK_EQUAL(all[1], (long)rounds * size);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long* counters;
    MPI_Win win;
    MPI_Win_allocate(numbers * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &counters, &win);
    test(win, counters);
    MPI_Win_free(&win);
    MPI_Win_allocate_shared(numbers * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &counters, &win);
    test(win, counters);
    MPI_Win_free(&win);
    return finish();
}
