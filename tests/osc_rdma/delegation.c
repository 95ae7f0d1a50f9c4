/* SPDX-License-Identifier: BSD-3-Clause */
/* Every rank in turn is the origin of all kinds of operations on the others.
     delegation waiting [dynamic]   the targets are in MPI_Recv, and carry every operation out themselves
     delegation busy [dynamic]      the targets do not call the library until a put of the origin to their memory tells
   them to go on
   The window is one of MPI_Win_create, or dynamic. */
#include "delegation.h"
#include "window.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    words = 40000, /* several pieces */
    outside = 4711
};

static int rank, size;
static int64_t* memory;
static int64_t *ours, *theirs;

static void put_and_get(int target, int count) {
    for (int i = 0; i < count; i++) {
        ours[i] = (int64_t)rank * 1000003 + i * 7 + count;
        theirs[i] = -1;
    }
    CHECK_OK(MPI_Put(ours, count, MPI_INT64_T, target, at(target, 1), count, MPI_INT64_T, window));
    CHECK_OK(MPI_Win_flush(target, window));
    CHECK_OK(MPI_Get(theirs, count, MPI_INT64_T, target, at(target, 1), count, MPI_INT64_T, window));
    CHECK_OK(MPI_Win_flush(target, window));
    CHECK_EQUAL(memcmp(ours, theirs, sizeof(int64_t) * (size_t)count), 0);
}

/* What put_and_get() has left there, twice, and then once more what was there. */
static void accumulate(int target, int count) {
    CHECK_OK(MPI_Accumulate(ours, count, MPI_INT64_T, target, at(target, 1), count, MPI_INT64_T, MPI_SUM, window));
    CHECK_OK(MPI_Get_accumulate(ours, count, MPI_INT64_T, theirs, count, MPI_INT64_T, target, at(target, 1), count,
        MPI_INT64_T, MPI_SUM, window));
    CHECK_OK(MPI_Win_flush(target, window));
    int wrong = 0;
    for (int i = 0; i < count; i++) {
        wrong += theirs[i] != 2 * ours[i];
    }
    CHECK_EQUAL(wrong, 0);
    CHECK_OK(MPI_Get_accumulate(NULL, 0, MPI_INT64_T, theirs, count, MPI_INT64_T, target, at(target, 1), count,
        MPI_INT64_T, MPI_NO_OP, window));
    CHECK_OK(MPI_Win_flush(target, window));
    for (int i = 0; i < count; i++) {
        wrong += theirs[i] != 3 * ours[i];
    }
    CHECK_EQUAL(wrong, 0);
}

static void single_elements(int target) {
    const int64_t five = 5, seven = 7;
    int64_t before = -1;
    CHECK_OK(MPI_Accumulate(&five, 1, MPI_INT64_T, target, at(target, 2), 1, MPI_INT64_T, MPI_REPLACE, window));
    CHECK_OK(MPI_Fetch_and_op(&seven, &before, MPI_INT64_T, target, at(target, 2), MPI_SUM, window));
    CHECK_OK(MPI_Win_flush(target, window));
    CHECK_EQUAL((int)before, 5);
    CHECK_OK(MPI_Fetch_and_op(NULL, &before, MPI_INT64_T, target, at(target, 2), MPI_NO_OP, window));
    CHECK_OK(MPI_Win_flush(target, window));
    CHECK_EQUAL((int)before, 12);
    CHECK_OK(MPI_Compare_and_swap(&five, &seven, &before, MPI_INT64_T, target, at(target, 2), window)); /* is not 7 */
    CHECK_OK(MPI_Win_flush(target, window));
    CHECK_EQUAL((int)before, 12);
    const int64_t twelve = 12;
    CHECK_OK(MPI_Compare_and_swap(&five, &twelve, &before, MPI_INT64_T, target, at(target, 2), window));
    CHECK_OK(MPI_Win_flush(target, window));
    CHECK_EQUAL((int)before, 12);
    MPI_Request request;
    CHECK_OK(MPI_Rget(&before, 1, MPI_INT64_T, target, at(target, 2), 1, MPI_INT64_T, window, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQUAL((int)before, 5);
}

/* Every second element here, all of them there. */
static void spread_origin(int target) {
    MPI_Datatype every_second;
    MPI_Type_vector(8, 1, 2, MPI_INT64_T, &every_second);
    MPI_Type_commit(&every_second);
    for (int i = 0; i < 16; i++) {
        ours[i] = 100 + i;
        theirs[i] = -1;
    }
    CHECK_OK(MPI_Put(ours, 1, every_second, target, at(target, 3), 8, MPI_INT64_T, window));
    CHECK_OK(MPI_Win_flush(target, window));
    CHECK_OK(MPI_Get(theirs, 1, every_second, target, at(target, 3), 8, MPI_INT64_T, window));
    CHECK_OK(MPI_Win_flush(target, window));
    CHECK_OK(MPI_Accumulate(ours, 1, every_second, target, at(target, 3), 8, MPI_INT64_T, MPI_SUM, window));
    CHECK_OK(MPI_Get(theirs + 16, 8, MPI_INT64_T, target, at(target, 3), 8, MPI_INT64_T, window));
    CHECK_OK(MPI_Win_flush(target, window));
    for (int i = 0; i < 16; i++) {
        CHECK_EQUAL((int)theirs[i], i % 2 == 0 ? 100 + i : -1);
    }
    for (int i = 0; i < 8; i++) {
        CHECK_EQUAL((int)theirs[16 + i], 2 * (100 + 2 * i));
    }
    MPI_Type_free(&every_second);
}

static void all_operations(int target) {
    static const int counts[] = {1, 3, 64, 511, 2040, 2053, 4096, 8193, words};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        put_and_get(target, counts[i]);
        accumulate(target, counts[i]);
    }
    single_elements(target);
    spread_origin(target);
}

static void with_locks(int target) {
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window));
    all_operations(target);
    CHECK_OK(MPI_Win_unlock(target, window));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window));
    all_operations(target);
    CHECK_OK(MPI_Win_unlock(target, window));
}

/* Until the target has said in its memory that it has left the library. */
static void wait_until_outside(int target) {
    int64_t said = 0;
    while (said != outside) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window));
        CHECK_OK(MPI_Get(&said, 1, MPI_INT64_T, target, at(target, 0), 1, MPI_INT64_T, window));
        CHECK_OK(MPI_Win_unlock(target, window));
    }
}

static void be_origin(int waiting) {
    MPI_T_pvar_handle delegated = counter("osc_rdma_delegated");
    MPI_T_pvar_handle retracted = counter("osc_rdma_retracted");
    for (int i = 1; i < size; i++) {
        const int target = (rank + i) % size;
        if (!waiting) {
            wait_until_outside(target);
        }
        const unsigned long long before = read_counter(delegated);
        const unsigned long long late = read_counter(retracted);
        with_locks(target);
        const unsigned long long served = read_counter(delegated) - before;
        if (waiting) {
            /* 2 * (9 sizes * (2 + 3) + 1 accumulate, 5 single elements, MPI_Rget and 4 by a spread origin, at least:
             * the large ones are several. */
            CHECK_TEXT(served >= 2 * (9 * 5 + 10), "the target has carried all operations out");
            CHECK_EQUAL((int)(read_counter(retracted) - late), 0);
            CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, target, 1, MPI_COMM_WORLD));
        } else {
            CHECK_EQUAL((int)served, 0);
            CHECK_TEXT(read_counter(retracted) > late, "the first operation has been left to the target");
            const int64_t flag = 0;
            CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window));
            CHECK_OK(MPI_Put(&flag, 1, MPI_INT64_T, target, at(target, 0), 1, MPI_INT64_T, window));
            CHECK_OK(MPI_Win_unlock(target, window));
        }
    }
}

static void be_target(int origin, int waiting) {
    if (waiting) {
        MPI_T_pvar_handle served = counter("osc_rdma_served");
        const unsigned long long before = read_counter(served);
        CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, origin, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_TEXT(read_counter(served) >= before + 2 * (9 * 5 + 10), "this process has served the origin");
    } else {
        *(volatile int64_t*)memory = outside;
        while (*(volatile int64_t*)memory == outside) {
            usleep(500);
        }
    }
}

int main(int argc, char** argv) {
    const int waiting = argc < 2 || strcmp(argv[1], "busy") != 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    open_counters();
    memory = calloc(words + 1, sizeof *memory);
    ours = calloc(words, sizeof *ours);
    theirs = calloc(words, sizeof *theirs);
    open_window(argc > 2 ? argv[2] : "create", memory, words + 1, size);
    for (int origin = 0; origin < size; origin++) {
        MPI_Barrier(MPI_COMM_WORLD);
        rank == origin ? be_origin(waiting) : be_target(origin, waiting);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    close_window(memory);
    free(memory);
    free(ours);
    free(theirs);
    close_counters();
    return finish();
}
