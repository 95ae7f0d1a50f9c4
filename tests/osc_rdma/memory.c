/* SPDX-License-Identifier: BSD-3-Clause */
/* What is special to windows whose memory one process copies from and to another one: targets that do not call the
 * library, lists of pieces, pairs. */
#include "tests/mpi_check/check.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { doubles = 40000 };

static int rank, size;

static MPI_Win make_window(void* base, MPI_Aint bytes, int unit) {
    MPI_Win win;
    CHECK_OK(MPI_Win_create(base, bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    return win;
}

/* Rank 0 is the target. It waits for the last word of its memory without a call of the library. */
static void target_that_computes(void) {
    const int count = 1 << 17;
    int* memory = calloc((size_t)count, sizeof(int));
    MPI_Win win = make_window(memory, count * (MPI_Aint)sizeof(int), sizeof(int));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        while (__atomic_load_n(&memory[count - 1], __ATOMIC_ACQUIRE) != size - 1) {
            sched_yield();
        }
        for (int i = 0; size > 1 && i < count - 1; ++i) {
            if (memory[i] != 7 * i) {
                CHECK_EQUAL(memory[i], 7 * i);
                break;
            }
        }
    } else {
        int* values = malloc((size_t)count * sizeof(int));
        for (int i = 0; i < count; ++i) {
            values[i] = 7 * i;
        }
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        CHECK_OK(MPI_Put(values, count - 1, MPI_INT, 0, 0, count - 1, MPI_INT, win));
        CHECK_OK(MPI_Win_flush(0, win));
        const int one = 1;
        int before = -1;
        CHECK_OK(MPI_Fetch_and_op(&one, &before, MPI_INT, 0, count - 1, MPI_SUM, win));
        CHECK_OK(MPI_Win_unlock(0, win));
        CHECK(before >= 0 && before < size - 1);
        free(values);
    }
    CHECK_OK(MPI_Win_free(&win));
    free(memory);
}

/* Vectors of several shapes on both sides, in one epoch of fences. */
static void derived_types(int blocks, int length, int stride) {
    double* memory = malloc(doubles * sizeof(double));
    double* here = malloc(doubles * sizeof(double));
    double* back = malloc(doubles * sizeof(double));
    for (int i = 0; i < doubles; ++i) {
        memory[i] = -1 - rank;
        here[i] = rank * 1000000.0 + i;
        back[i] = -7;
    }
    MPI_Win win = make_window(memory, doubles * sizeof(double), sizeof(double));
    MPI_Datatype type;
    MPI_Type_vector(blocks, length, stride, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    const int right = (rank + 1) % size;
    const int left = (rank + size - 1) % size;
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put(here, 1, type, right, 3, 1, type, win));
    CHECK_OK(MPI_Win_fence(0, win));
    int wrong = 0;
    for (int i = 0; i < doubles; ++i) {
        const int at = i - 3;
        const int written = at >= 0 && at / stride < blocks && at % stride < length;
        wrong += memory[i] != (written ? left * 1000000.0 + at : -1 - rank);
    }
    CHECK_EQUAL(wrong, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Get(back, blocks * length, MPI_DOUBLE, right, 3, 1, type, win));
    CHECK_OK(MPI_Win_fence(0, win));
    wrong = 0;
    for (int i = 0; i < blocks * length; ++i) {
        wrong += back[i] != here[i / length * stride + i % length];
    }
    CHECK_EQUAL(wrong, 0);
    CHECK_OK(MPI_Win_free(&win));
    MPI_Type_free(&type);
    free(memory);
    free(here);
    free(back);
}

/* All ranks update the same elements of rank 0 by types of which elements are in pieces. */
static void accumulates(void) {
    const int count = 5000;
    const int rounds = 4;
    struct value {
        double number;
        int place;
    }* pairs = calloc((size_t)count, sizeof *pairs);
    for (int i = 0; i < count; ++i) {
        pairs[i].number = -1;
    }
    MPI_Win win = make_window(pairs, count * (MPI_Aint)sizeof *pairs, sizeof *pairs);
    MPI_Datatype each_second;
    MPI_Type_vector(count / 2, 1, 2, MPI_DOUBLE_INT, &each_second);
    MPI_Type_commit(&each_second);
    struct value* mine = calloc((size_t)count, sizeof *mine);
    for (int i = 0; i < count; ++i) {
        mine[i].number = (i + rank) % size;
        mine[i].place = rank;
    }
    CHECK_OK(MPI_Win_lock_all(0, win));
    for (int round = 0; round < rounds; ++round) {
        CHECK_OK(MPI_Accumulate(mine, count / 2, MPI_DOUBLE_INT, 0, 0, 1, each_second, MPI_MAXLOC, win));
    }
    CHECK_OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        int wrong = 0;
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
        for (int i = 0; i < count; ++i) {
            const int k = i / 2;
            const int best = ((size - 1 - k) % size + size) % size;
            wrong += i % 2 == 0 ? pairs[i].number != size - 1 || pairs[i].place != best : pairs[i].number != -1;
        }
        CHECK_OK(MPI_Win_unlock(0, win));
        CHECK_EQUAL(wrong, 0);
    }
    CHECK_OK(MPI_Win_free(&win));
    MPI_Type_free(&each_second);
    free(pairs);
    free(mine);
}

static void fetched_values(void) {
    enum { count = 9000 };
    static long memory[count];
    static long ones[count];
    static long before[count];
    memset(memory, 0, sizeof memory);
    for (int i = 0; i < count; ++i) {
        ones[i] = 1;
    }
    MPI_Win win = make_window(memory, sizeof memory, sizeof(long));
    const int target = size - 1;
    const int rounds = 6;
    CHECK_OK(MPI_Win_lock_all(0, win));
    long last = -1;
    for (int round = 0; round < rounds; ++round) {
        MPI_Request request;
        CHECK_OK(MPI_Rget_accumulate(
            ones, count, MPI_LONG, before, count, MPI_LONG, target, 0, count, MPI_LONG, MPI_SUM, win, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(before[0] > last && before[count - 1] < (long)size * rounds);
        last = before[0];
        long compare = before[17];
        long swap = -5;
        long old = 0;
        CHECK_OK(MPI_Compare_and_swap(&swap, &compare, &old, MPI_LONG, target, 17, win));
        CHECK(old != compare); /* this process has added to it */
    }
    CHECK_OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
    CHECK_OK(
        MPI_Get_accumulate(NULL, 0, MPI_LONG, before, count, MPI_LONG, target, 0, count, MPI_LONG, MPI_NO_OP, win));
    CHECK_OK(MPI_Win_unlock(target, win));
    int wrong = 0;
    for (int i = 0; i < count; ++i) {
        wrong += before[i] != (long)size * rounds;
    }
    CHECK_EQUAL(wrong, 0);
    CHECK_OK(MPI_Win_free(&win));
}

/* A counter that is read, changed and written back under the exclusive lock, by all ranks at once. */
static void exclusive_counter(void) {
    long counter[2] = {0, 0};
    MPI_Win win = make_window(counter, sizeof counter, sizeof(long));
    const int rounds = 200;
    for (int round = 0; round < rounds; ++round) {
        long values[2];
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        CHECK_OK(MPI_Get(values, 2, MPI_LONG, 0, 0, 2, MPI_LONG, win));
        CHECK_OK(MPI_Win_flush(0, win));
        CHECK_EQUAL(values[0], values[1]);
        ++values[0];
        ++values[1];
        CHECK_OK(MPI_Put(values, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win));
        MPI_Request request;
        CHECK_OK(MPI_Rput(values + 1, 1, MPI_LONG, 0, 1, 1, MPI_LONG, win, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Win_unlock(0, win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
        CHECK_EQUAL(counter[0], (long)rounds * size);
        CHECK_OK(MPI_Win_unlock(0, win));
    }
    CHECK_OK(MPI_Win_free(&win));
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    target_that_computes();
    derived_types(1, 30000, 30000);
    derived_types(9, 1000, 4000);
    derived_types(3000, 1, 13);
    derived_types(13000, 1, 3);
    derived_types(500, 64, 70);
    accumulates();
    fetched_values();
    exclusive_counter();
    return finish();
}
