/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that programs attach to dynamic windows and detach again. */
#include "tests/mpi_check/check.h"

#include <stdint.h>

static int rank, size;
static char memory[300];
static MPI_Win win;

static void test_overlaps(void) {
    CHECK_OK(MPI_Win_attach(win, memory + 100, 100));
    CHECK_CLASS(MPI_Win_attach(win, memory + 100, 100), MPI_ERR_RMA_ATTACH);
    CHECK_CLASS(MPI_Win_attach(win, memory + 50, 51), MPI_ERR_RMA_ATTACH);
    CHECK_CLASS(MPI_Win_attach(win, memory + 199, 10), MPI_ERR_RMA_ATTACH);
    CHECK_CLASS(MPI_Win_attach(win, memory + 120, 1), MPI_ERR_RMA_ATTACH);
    CHECK_CLASS(MPI_Win_attach(win, memory, 300), MPI_ERR_RMA_ATTACH);
    CHECK_OK(MPI_Win_attach(win, memory, 100));
    CHECK_OK(MPI_Win_attach(win, memory + 200, 100));
    CHECK_OK(MPI_Win_attach(win, memory + 150, 0));
    CHECK_CLASS(MPI_Win_detach(win, memory + 10), MPI_ERR_BASE);
    CHECK_OK(MPI_Win_detach(win, memory + 100));
    CHECK_CLASS(MPI_Win_detach(win, memory + 100), MPI_ERR_BASE);
    CHECK_OK(MPI_Win_attach(win, memory + 100, 100));
    CHECK_OK(MPI_Win_detach(win, memory + 150));
    CHECK_OK(MPI_Win_detach(win, memory));
    CHECK_OK(MPI_Win_detach(win, memory + 100));
    CHECK_OK(MPI_Win_detach(win, memory + 200));
}

static void test_arguments(void) {
    MPI_Win other;
    MPI_Aint length;
    int unit;
    void* base;
    CHECK_CLASS(MPI_Win_attach(win, memory, -1), MPI_ERR_SIZE);
    CHECK_CLASS(MPI_Win_attach(win, NULL, 1), MPI_ERR_BASE);
    CHECK_CLASS(MPI_Win_shared_query(win, 0, &length, &unit, &base), MPI_ERR_RMA_FLAVOR);
    CHECK_OK(MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &other));
    CHECK_OK(MPI_Win_set_errhandler(other, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Win_attach(other, memory, 1), MPI_ERR_RMA_FLAVOR);
    CHECK_CLASS(MPI_Win_detach(other, memory), MPI_ERR_RMA_FLAVOR);
    CHECK_OK(MPI_Win_free(&other));
}

static void test_transfer(void) {
    static int places[64];
    MPI_Aint address, addresses[64];
    const int next = (rank + 1) % size;
    int value = rank + 10;
    CHECK_OK(MPI_Win_attach(win, places, sizeof places));
    MPI_Get_address(&places[5], &address);
    MPI_Allgather(&address, 1, MPI_AINT, addresses, 1, MPI_AINT, MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock_all(0, win));
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, next, addresses[next], 1, MPI_INT, win));
    CHECK_OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    CHECK_EQUAL(places[5], (rank + size - 1) % size + 10);
    CHECK_OK(MPI_Win_unlock(rank, win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_detach(win, places));
}

/* The displacement is an address of the target; `count` elements of the type have as many ints as are sent. */
static int put_ints(const int* values, int ints, MPI_Aint place, int count, MPI_Datatype type) {
    const int next = (rank + 1) % size;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win));
    const int put = class_of(MPI_Put(values, ints, MPI_INT, next, place, count, type, win));
    const int unlocked = class_of(MPI_Win_unlock(next, win));
    return put != MPI_SUCCESS ? put : unlocked; /* only the target may know what is wrong */
}

/* With absolute displacements in the type, the blocks of one operation lie in several regions. */
static void test_several_regions(void) {
    static int ints[32];
    const int values[3] = {rank + 1, rank + 2, rank + 3}, previous = (rank + size - 1) % size, lengths[2] = {1, 2};
    int before[3] = {-1, -1, -1};
    MPI_Aint mine, first;
    MPI_Datatype both, gap;
    for (int i = 0; i < 32; ++i) {
        ints[i] = 0;
    }
    CHECK_OK(MPI_Win_attach(win, ints, 8 * sizeof(int)));
    CHECK_OK(MPI_Win_attach(win, ints + 20, 4 * sizeof(int)));
    MPI_Get_address(ints, &mine);
    MPI_Sendrecv(
        &mine, 1, MPI_AINT, previous, 0, &first, 1, MPI_AINT, (rank + 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const MPI_Aint in_both[2] = {first + 3 * (MPI_Aint)sizeof(int), first + 22 * (MPI_Aint)sizeof(int)};
    const MPI_Aint into_gap[2] = {first, first + 7 * (MPI_Aint)sizeof(int)};
    MPI_Type_create_hindexed(2, lengths, in_both, MPI_INT, &both);
    MPI_Type_commit(&both);
    MPI_Type_create_hindexed(2, lengths, into_gap, MPI_INT, &gap);
    MPI_Type_commit(&gap);
    CHECK_EQUAL(put_ints(values, 3, 0, 1, both), MPI_SUCCESS);
    CHECK_EQUAL(put_ints(values, 3, 0, 1, gap), MPI_ERR_RMA_RANGE);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(ints[3] == previous + 1 && ints[22] == previous + 2 && ints[23] == previous + 3);
    CHECK(ints[0] == 0 && ints[7] == 0 && ints[8] == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, (rank + 1) % size, 0, win));
    CHECK_OK(MPI_Get_accumulate(values, 3, MPI_INT, before, 3, MPI_INT, (rank + 1) % size, 0, 1, both, MPI_SUM, win));
    CHECK_OK(MPI_Win_unlock((rank + 1) % size, win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(before[0] == rank + 1 && before[1] == rank + 2 && before[2] == rank + 3);
    CHECK(ints[3] == 2 * (previous + 1) && ints[22] == 2 * (previous + 2) && ints[23] == 2 * (previous + 3));
    MPI_Type_free(&both);
    MPI_Type_free(&gap);
    CHECK_OK(MPI_Win_detach(win, ints));
    CHECK_OK(MPI_Win_detach(win, ints + 20));
}

/* Places whose distance is a multiple of the address space: the end is where the beginning is. */
static void test_wide_types(void) {
    static int ints[8];
    const int values[5] = {1, 2, 3, 4, 5};
    const MPI_Aint quarter = (MPI_Aint)1 << 62;
    const MPI_Aint extents[] = {quarter, -quarter, quarter / 2, quarter + quarter / 2, quarter + 4};
    MPI_Aint mine, first;
    MPI_Datatype wide;
    CHECK_OK(MPI_Win_attach(win, ints, sizeof ints));
    MPI_Get_address(ints, &mine);
    MPI_Sendrecv(&mine, 1, MPI_AINT, (rank + size - 1) % size, 0, &first, 1, MPI_AINT, (rank + 1) % size, 0,
        MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (size_t i = 0; i < sizeof extents / sizeof *extents; ++i) {
        MPI_Type_create_resized(MPI_INT, 0, extents[i], &wide);
        MPI_Type_commit(&wide);
        CHECK_EQUAL(put_ints(values, 5, first, 5, wide), MPI_ERR_RMA_RANGE);
        MPI_Type_free(&wide);
    }
    CHECK_EQUAL(put_ints(values, 3, -4, 3, MPI_INT), MPI_ERR_RMA_RANGE);
    CHECK_EQUAL(put_ints(values, 3, first - 4, 3, MPI_INT), MPI_ERR_RMA_RANGE);
    CHECK_EQUAL(put_ints(values, 3, PTRDIFF_MAX, 3, MPI_INT), MPI_ERR_RMA_RANGE);
    /* 2^64 bytes and 4, and the last one without an extent. */
    const MPI_Count count = ((MPI_Count)1 << 62) + 1;
    MPI_Type_create_resized(MPI_INT, 0, 0, &wide);
    MPI_Type_commit(&wide);
    CHECK_OK(MPI_Win_lock_all(0, win));
    CHECK_CLASS(MPI_Put_c(values, count, MPI_INT, (rank + 1) % size, first, count, MPI_INT, win), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Get_c(ints, count, wide, (rank + 1) % size, first, count, wide, win), MPI_ERR_COUNT);
    CHECK_CLASS(
        MPI_Accumulate_c(values, count, wide, (rank + 1) % size, first, count, wide, MPI_SUM, win), MPI_ERR_COUNT);
    CHECK_OK(MPI_Win_unlock_all(win));
    MPI_Type_free(&wide);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 8; ++i) {
        CHECK_EQUAL(ints[i], 0);
    }
    CHECK_OK(MPI_Win_detach(win, ints));
}

int main(void) {
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    test_overlaps();
    test_arguments();
    test_transfer();
    test_several_regions();
    test_wide_types();
    CHECK_OK(MPI_Win_free(&win));
    return finish();
}
