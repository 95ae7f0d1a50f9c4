/* SPDX-License-Identifier: BSD-3-Clause */
/* Erroneous one-sided communication over each component: an error of the right class, no hang, nothing transferred, and
 * the window works as before. What depends on the arguments and epochs of the caller alone is tests/win. */
#include "tests/mpi_check/check.h"

#include <stdlib.h>
#include <string.h>

enum { ints = 16 };

static int rank, size, next;

static MPI_Win window;
static int* base;

/* The window still works: its memory is as it was, a lock can be had, and an operation arrives. */
static void check_window(void) {
    int value = 100 + rank, got = -1, previous = (rank + size - 1) % size;
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, window));
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, next, 3, 1, MPI_INT, window));
    CHECK_OK(MPI_Win_unlock(next, window));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window));
    CHECK_OK(MPI_Get(&got, 1, MPI_INT, rank, 3, 1, MPI_INT, window));
    CHECK_OK(MPI_Win_unlock(rank, window));
    CHECK_EQUAL(got, 100 + previous);
    for (int i = 0; i < ints; ++i) {
        CHECK(i == 3 || base[i] == i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Every way to reach beyond the end, or before the base. */
static void check_range(int target) {
    int data[2 * ints] = {0}, result[2 * ints], compare = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Datatype spread, before;
    MPI_Type_vector(2, 1, ints, MPI_INT, &spread);
    MPI_Type_commit(&spread);
    MPI_Type_vector(2, 1, -4, MPI_INT, &before);
    MPI_Type_commit(&before);
    CHECK_CLASS(MPI_Put(data, 1, MPI_INT, target, ints, 1, MPI_INT, window), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Put(data, ints + 1, MPI_INT, target, 0, ints + 1, MPI_INT, window), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Put(data, 2, MPI_INT, target, 0, 1, spread, window), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Put(data, 2, MPI_INT, target, 3, 1, before, window), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Get(data, 2, MPI_INT, target, ints - 1, 2, MPI_INT, window), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Accumulate(data, 2, MPI_INT, target, ints - 1, 2, MPI_INT, MPI_SUM, window), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Get_accumulate(data, 2, MPI_INT, result, 2, MPI_INT, target, ints - 1, 2, MPI_INT, MPI_SUM, window),
        MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Fetch_and_op(data, result, MPI_INT, target, ints, MPI_SUM, window), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Compare_and_swap(data, &compare, result, MPI_INT, target, ints, window), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Rput(data, 1, MPI_INT, target, ints, 1, MPI_INT, window, &request), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Rget(data, 1, MPI_INT, target, ints, 1, MPI_INT, window, &request), MPI_ERR_RMA_RANGE);
    MPI_Type_free(&spread);
    MPI_Type_free(&before);
}

/* MPI_Win_post ends the epoch of a fence that no operation has followed. */
static void check_exposure_after_fence(void) {
    int data = 0;
    MPI_Group all, self;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &rank, &self);
    CHECK_OK(MPI_Win_fence(0, window));
    CHECK_OK(MPI_Win_post(self, 0, window));
    CHECK_CLASS(MPI_Put(&data, 1, MPI_INT, next, 3, 1, MPI_INT, window), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_start(self, 0, window));
    CHECK_OK(MPI_Win_complete(window));
    CHECK_OK(MPI_Win_wait(window));
    check_window();
    MPI_Group_free(&self);
    MPI_Group_free(&all);
}

static void check_epochs(void) {
    int data = 0, flag = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK_CLASS(MPI_Put(&data, 1, MPI_INT, next, 3, 1, MPI_INT, window), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_unlock(next, window), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_unlock_all(window), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_flush(next, window), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_complete(window), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_wait(window), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_test(window, &flag), MPI_ERR_RMA_SYNC);
    check_window();
    /* Within an epoch: what does not go with it changes nothing, and the epoch goes on. */
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, window));
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, window), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock_all(0, window), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_unlock_all(window), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_complete(window), MPI_ERR_RMA_SYNC);
    if (size > 1) {
        CHECK_CLASS(MPI_Put(&data, 1, MPI_INT, rank, 3, 1, MPI_INT, window), MPI_ERR_RMA_SYNC);
        CHECK_CLASS(MPI_Win_unlock(rank, window), MPI_ERR_RMA_SYNC);
    }
    check_range(next);
    CHECK_OK(MPI_Win_unlock(next, window));
    check_window();
    CHECK_OK(MPI_Win_lock_all(0, window));
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, window), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_unlock(next, window), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_fence(0, window), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_unlock_all(window));
    check_window();
    /* A request needs a passive target (12.3.5). */
    CHECK_OK(MPI_Win_fence(0, window));
    CHECK_OK(MPI_Get(&data, 1, MPI_INT, next, 1, 1, MPI_INT, window));
    CHECK_CLASS(MPI_Rput(&data, 1, MPI_INT, next, 3, 1, MPI_INT, window, &request), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, window));
    CHECK_EQUAL(data, 1);
    check_window();
    check_exposure_after_fence();
}

/* Memory of all members together of more than 64 bits. */
static void check_size(void) {
    void* memory = NULL;
    MPI_Win none = MPI_WIN_NULL;
    if (size == 4) { /* the sum is 0 without the bits that do not fit */
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        CHECK(MPI_Win_allocate_shared((MPI_Aint)1 << 62, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &none) !=
            MPI_SUCCESS);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    }
}

/* Freed while an epoch is open: refused, and the window stays. */
static void check_free(void) {
    MPI_Win copy = window;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window));
    CHECK_CLASS(MPI_Win_free(&copy), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_unlock(rank, window));
    check_window();
}

static void make_window(int allocated) {
    const MPI_Aint bytes = ints * (MPI_Aint)sizeof(int);
    if (allocated) {
        MPI_Win_allocate(bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    } else {
        base = malloc((size_t)bytes);
        MPI_Win_create(base, bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    }
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
    for (int i = 0; i < ints; ++i) {
        base[i] = i;
    }
    MPI_Win_unlock(rank, window);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* In a dynamic window only the target knows what is attached. The error may come with the call or with the one that
 * completes it. */
static void check_dynamic(void) {
    int* memory = calloc(ints, sizeof(int));
    int value = 7, first, second;
    MPI_Aint mine, address;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Win_attach(window, memory, 8 * sizeof(int)));
    CHECK_CLASS(MPI_Win_attach(window, memory + 4, 8 * sizeof(int)), MPI_ERR_RMA_ATTACH);
    CHECK_CLASS(MPI_Win_attach(window, memory, sizeof(int)), MPI_ERR_RMA_ATTACH);
    MPI_Get_address(memory, &mine);
    MPI_Sendrecv(&mine, 1, MPI_AINT, (rank + size - 1) % size, 0, &address, 1, MPI_AINT, next, 0, MPI_COMM_WORLD,
        MPI_STATUS_IGNORE);
    const MPI_Aint beyond = MPI_Aint_add(address, 8 * (MPI_Aint)sizeof(int));
    for (int round = 0; round < 4; ++round) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, window));
        if (round == 0) {
            first = class_of(MPI_Put(&value, 1, MPI_INT, next, beyond, 1, MPI_INT, window));
        } else if (round == 1) {
            first = class_of(MPI_Get(&value, 1, MPI_INT, next, beyond, 1, MPI_INT, window));
        } else if (round == 2) {
            first = class_of(MPI_Accumulate(&value, 1, MPI_INT, next, beyond, 1, MPI_INT, MPI_SUM, window));
        } else {
            int result;
            first = class_of(MPI_Fetch_and_op(&value, &result, MPI_INT, next, beyond, MPI_SUM, window));
        }
        second = class_of(MPI_Win_unlock(next, window));
        CHECK(first == MPI_ERR_RMA_RANGE || second == MPI_ERR_RMA_RANGE);
        CHECK(first == MPI_SUCCESS || first == MPI_ERR_RMA_RANGE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    value = 70 + rank;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, window));
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, next, address, 1, MPI_INT, window));
    CHECK_OK(MPI_Win_unlock(next, window));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQUAL(memory[0], 70 + (rank + size - 1) % size);
    CHECK_EQUAL(memory[8], 0);
    CHECK_OK(MPI_Win_detach(window, memory));
    CHECK(class_of(MPI_Win_detach(window, memory)) != MPI_SUCCESS);
    CHECK_OK(MPI_Win_free(&window));
    free(memory);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int allocated = 1; allocated >= 0; --allocated) {
        int value = 0;
        make_window(allocated);
        check_window();
        check_epochs();
        check_free();
        MPI_Win freed = window;
        CHECK_OK(MPI_Win_free(&window));
        CHECK(window == MPI_WIN_NULL);
        CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window), MPI_ERR_WIN);
        CHECK_CLASS(MPI_Win_fence(0, freed), MPI_ERR_WIN);
        if (!allocated) {
            free(base);
        }
    }
    check_dynamic();
    check_size();
    return finish();
}
