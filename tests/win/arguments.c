/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrong arguments of the operations and of the constructors: an error of one member is an error in all of them. */
#include "tests/mpi_check/check.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, next;
static int memory[16], value = 7, got, result;
static MPI_Win win;
static MPI_Datatype uncommitted, pair, vector, mixed;
static MPI_Op own_op;

static void do_nothing(void* in, void* inout, int* count, MPI_Datatype* type) {
    (void)in, (void)inout, (void)count, (void)type;
}

static int put(
    int count, MPI_Datatype type, int target, MPI_Aint displacement, int target_count, MPI_Datatype target_type) {
    return MPI_Put(memory, count, type, target, displacement, target_count, target_type, win);
}

static void test_transfers(void) {
    CHECK_CLASS(put(-1, MPI_INT, next, 0, 1, MPI_INT), MPI_ERR_COUNT);
    CHECK_CLASS(put(1, MPI_DATATYPE_NULL, next, 0, 1, MPI_INT), MPI_ERR_TYPE);
    CHECK_CLASS(put(1, uncommitted, next, 0, 1, MPI_INT), MPI_ERR_TYPE);
    CHECK_CLASS(put(1, MPI_INT, size, 0, 1, MPI_INT), MPI_ERR_RANK);
    CHECK_CLASS(put(1, MPI_INT, -7, 0, 1, MPI_INT), MPI_ERR_RANK);
    CHECK_CLASS(put(1, MPI_INT, next, 0, -1, MPI_INT), MPI_ERR_COUNT);
    CHECK_CLASS(put(1, MPI_INT, next, 0, 1, uncommitted), MPI_ERR_TYPE);
    CHECK_CLASS(put(1, MPI_INT, next, 0, 2, MPI_INT), MPI_ERR_TYPE);
    CHECK_CLASS(put(1, MPI_INT, next, -1, 1, MPI_INT), MPI_ERR_DISP);
    CHECK_CLASS(put(1, MPI_INT, next, 16, 1, MPI_INT), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(put(2, MPI_INT, next, 15, 2, MPI_INT), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(put(1, MPI_INT, next, LONG_MAX / 4, 1, MPI_INT), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(put(2, MPI_INT, next, 0, 1, vector), MPI_ERR_RMA_RANGE); /* it reaches behind the memory */
    CHECK_CLASS(
        MPI_Put_c(memory, (MPI_Count)1 << 40, MPI_INT, next, 0, (MPI_Count)1 << 40, MPI_INT, win), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Put_c(memory, ((MPI_Count)1 << 62) + 1, MPI_INT, next, 0, ((MPI_Count)1 << 62) + 1, MPI_INT, win),
        MPI_ERR_COUNT);
    CHECK_CLASS(put(1, MPI_INT, next, LONG_MIN, 1, MPI_INT), MPI_ERR_DISP);
    CHECK_CLASS(put(1, MPI_INT, next, LONG_MAX, 1, MPI_INT), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Put(NULL, 1, MPI_INT, next, 0, 1, MPI_INT, win), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Put(memory, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_WIN_NULL), MPI_ERR_WIN);
    CHECK_OK(put(1, MPI_INT, next, 15, 1, MPI_INT));
    CHECK_OK(put(0, MPI_INT, next, 16, 0, MPI_INT));
    CHECK_OK(put(0, MPI_INT, next, 0, 0, MPI_INT));
    CHECK_OK(put(1, MPI_INT, MPI_PROC_NULL, -3, 1, MPI_INT));
}

static void test_ops(void) {
    CHECK_CLASS(MPI_Accumulate(&value, 1, MPI_INT, next, 0, 1, MPI_INT, own_op, win), MPI_ERR_OP);
    CHECK_CLASS(MPI_Accumulate(&value, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_OP_NULL, win), MPI_ERR_OP);
    CHECK_CLASS(MPI_Accumulate(&value, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_NO_OP, win), MPI_ERR_OP);
    CHECK_CLASS(MPI_Accumulate(&value, 1, MPI_FLOAT, next, 0, 1, MPI_FLOAT, MPI_BAND, win), MPI_ERR_OP);
    CHECK_CLASS(MPI_Accumulate(&value, 1, MPI_INT, next, 0, 1, MPI_FLOAT, MPI_SUM, win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Accumulate(memory, 1, mixed, next, 0, 1, mixed, MPI_REPLACE, win), MPI_ERR_TYPE);
    CHECK_OK(MPI_Accumulate(memory, 1, pair, next, 0, 1, MPI_INT, MPI_SUM, win));
    CHECK_OK(MPI_Accumulate(&value, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_REPLACE, win));
    CHECK_CLASS(
        MPI_Get_accumulate(&value, 1, MPI_INT, &got, 2, MPI_INT, next, 0, 1, MPI_INT, MPI_SUM, win), MPI_ERR_TYPE);
    CHECK_OK(MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, &got, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_NO_OP, win));
    CHECK_CLASS(MPI_Fetch_and_op(&value, &got, pair, next, 0, MPI_SUM, win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Fetch_and_op(&value, &got, MPI_INT, next, 0, own_op, win), MPI_ERR_OP);
    CHECK_CLASS(MPI_Fetch_and_op(&value, &got, MPI_INT, next, 16, MPI_SUM, win), MPI_ERR_RMA_RANGE);
    CHECK_OK(MPI_Fetch_and_op(NULL, &got, MPI_INT, next, 0, MPI_NO_OP, win));
    CHECK_OK(MPI_Fetch_and_op(NULL, &got, MPI_INT, MPI_PROC_NULL, 0, MPI_NO_OP, win));
    CHECK_CLASS(MPI_Compare_and_swap(&value, &value, &result, MPI_FLOAT, next, 0, win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Compare_and_swap(&value, &value, &result, pair, next, 0, win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Compare_and_swap(&value, &value, &result, MPI_INT, size, 0, win), MPI_ERR_RANK);
}

static void test_requests(void) {
    MPI_Request requests[3];
    MPI_Status status;
    CHECK_OK(MPI_Rput(memory, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, &requests[0]));
    CHECK_OK(MPI_Rget(&got, 0, MPI_INT, next, 0, 0, MPI_INT, win, &requests[1]));
    CHECK_OK(MPI_Rget_c(&got, 1, MPI_INT, next, 0, 1, MPI_INT, win, &requests[2]));
    CHECK_OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    CHECK(requests[0] == MPI_REQUEST_NULL && requests[2] == MPI_REQUEST_NULL);
    CHECK_OK(MPI_Raccumulate(&value, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_SUM, win, &requests[0]));
    CHECK_OK(MPI_Wait(&requests[0], &status));
    CHECK_OK(
        MPI_Rget_accumulate(&value, 1, MPI_INT, &got, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_SUM, win, &requests[0]));
    CHECK_OK(MPI_Wait(&requests[0], &status));
    CHECK_CLASS(MPI_Rput(memory, 1, MPI_INT, next, 0, 1, MPI_INT, win, NULL), MPI_ERR_ARG);
}

/* The forms with MPI_Count and MPI_Aint. */
static void test_large_forms(void) {
    MPI_Request requests[3];
    MPI_Win made;
    int* base = NULL;
    const int sent = 4000 + rank;
    int fetched = -1, back = -1;
    CHECK_OK(MPI_Win_allocate_shared_c(64, (MPI_Aint)4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &made));
    CHECK_OK(MPI_Win_free(&made));
    CHECK_OK(MPI_Win_create_c(memory, sizeof memory, (MPI_Aint)4, MPI_INFO_NULL, MPI_COMM_WORLD, &made));
    for (int i = 0; i < 16; ++i) {
        memory[i] = 0;
    }
    CHECK_OK(MPI_Win_fence(0, made));
    CHECK_OK(MPI_Accumulate_c(&sent, 1, MPI_INT, next, 1, 1, MPI_INT, MPI_SUM, made));
    CHECK_OK(MPI_Put_c(&sent, 1, MPI_INT, next, 2, 1, MPI_INT, made));
    CHECK_OK(MPI_Win_fence(0, made));
    CHECK_EQUAL(memory[1], 4000 + (rank + size - 1) % size);
    CHECK_EQUAL(memory[2], 4000 + (rank + size - 1) % size);
    MPI_Barrier(MPI_COMM_WORLD); /* before another member accumulates again */
    CHECK_OK(MPI_Get_c(&back, 1, MPI_INT, next, 2, 1, MPI_INT, made));
    CHECK_OK(MPI_Get_accumulate_c(&sent, 1, MPI_INT, &fetched, 1, MPI_INT, next, 1, 1, MPI_INT, MPI_SUM, made));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, made));
    CHECK_EQUAL(back, sent);
    CHECK_EQUAL(fetched, sent);
    CHECK_EQUAL(memory[1], 2 * (4000 + (rank + size - 1) % size));
    CHECK_OK(MPI_Win_lock_all(0, made));
    CHECK_OK(MPI_Rput_c(&sent, 1, MPI_INT, next, 3, 1, MPI_INT, made, &requests[0]));
    CHECK_OK(MPI_Raccumulate_c(&sent, 1, MPI_INT, next, 4, 1, MPI_INT, MPI_REPLACE, made, &requests[1]));
    CHECK_OK(MPI_Rget_accumulate_c(
        &sent, 1, MPI_INT, &fetched, 1, MPI_INT, next, 2, 1, MPI_INT, MPI_SUM, made, &requests[2]));
    CHECK_OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    CHECK_EQUAL(fetched, sent);
    CHECK_OK(MPI_Win_unlock_all(made));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_free(&made));
}

/* Only the last member passes what is wrong. */
static void test_constructors(void) {
    const int bad = rank == size - 1;
    MPI_Win made = MPI_WIN_NULL;
    MPI_Info apart;
    void* base = NULL;
    CHECK_CLASS(MPI_Win_create(memory, bad ? -1 : 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &made), MPI_ERR_SIZE);
    CHECK_CLASS(MPI_Win_create(memory, 8, bad ? 0 : 1, MPI_INFO_NULL, MPI_COMM_WORLD, &made), MPI_ERR_DISP);
    CHECK_CLASS(MPI_Win_create(bad ? NULL : memory, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &made), MPI_ERR_BASE);
    CHECK_CLASS(
        MPI_Win_allocate_c(8, bad ? (MPI_Aint)1 << 40 : 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &made), MPI_ERR_DISP);
    CHECK_CLASS(MPI_Win_allocate_shared(bad ? -5 : 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &made), MPI_ERR_SIZE);
    CHECK_CLASS(
        MPI_Win_allocate(bad ? (MPI_Aint)1 << 60 : 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &made), MPI_ERR_NO_MEM);
    MPI_Info_create(&apart);
    MPI_Info_set(apart, "alloc_shared_noncontig", "true");
    CHECK_CLASS(
        MPI_Win_allocate_shared(bad ? (MPI_Aint)1 << 60 : 8, 1, apart, MPI_COMM_WORLD, &base, &made), MPI_ERR_NO_MEM);
    MPI_Info_free(&apart);
    CHECK_CLASS(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, bad ? NULL : &base, &made), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Win_create(memory, 8, 1, MPI_INFO_NULL, MPI_COMM_NULL, &made), MPI_ERR_COMM);
    CHECK(made == MPI_WIN_NULL);
    /* The next constructor is not disturbed. */
    CHECK_OK(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &made));
    CHECK_OK(MPI_Win_free(&made));
}

static int construct(int flavor, MPI_Win* made) {
    void* base = NULL;
    switch (flavor) {
    case MPI_WIN_FLAVOR_CREATE:
        return MPI_Win_create(memory, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, made);
    case MPI_WIN_FLAVOR_ALLOCATE:
        return MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, made);
    case MPI_WIN_FLAVOR_SHARED:
        return MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, made);
    default:
        return MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, made);
    }
}

/* The last member calls another constructor than the others. */
static void check_constructors(int of_others, const char* name_of_others, int of_last, const char* name_of_last) {
    char expected[128], text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Win made = MPI_WIN_NULL;
    const int code = construct(rank == size - 1 ? of_last : of_others, &made);
    CHECK_CLASS(code, MPI_ERR_RMA_FLAVOR);
    CHECK(made == MPI_WIN_NULL);
    CHECK_OK(MPI_Error_string(code, text, &length));
    snprintf(expected, sizeof expected, "rank %d has called %s, but rank 0 has called %s;", size - 1, name_of_last,
        name_of_others);
    CHECK_TEXT(strstr(text, expected) != NULL, text);
}

static void test_different_constructors(void) {
    static const int flavors[] = {
        MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_SHARED, MPI_WIN_FLAVOR_DYNAMIC};
    static const char* const names[] = {
        "MPI_Win_create", "MPI_Win_allocate", "MPI_Win_allocate_shared", "MPI_Win_create_dynamic"};
    for (int i = 0; i < 16 && size > 1; ++i) {
        if (i / 4 != i % 4) {
            check_constructors(flavors[i / 4], names[i / 4], flavors[i % 4], names[i % 4]);
        }
    }
}

/* A component that does not exist, named in one member. */
static void test_component(void) {
    MPI_Info info;
    MPI_Win made = MPI_WIN_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "patchbay_osc", rank == 0 ? "nothing" : "^nothing");
    CHECK(MPI_Win_create(memory, 8, 1, info, MPI_COMM_WORLD, &made) != MPI_SUCCESS);
    CHECK(made == MPI_WIN_NULL);
    MPI_Info_free(&info);
}

/* Info keys that state what is not so: the ranges are those of each member, and accumulates with different ops have
 * all the effect that they have without the key. */
static void test_untrue_hints(void) {
    const int one = 1, five = 5;
    int bytes = 8 + 8 * (next % 2), unit = 4 + 4 * (next % 2), highest = 0;
    MPI_Info info;
    MPI_Win made;
    int* base;
    MPI_Info_create(&info);
    MPI_Info_set(info, "same_size", "true");
    MPI_Info_set(info, "same_disp_unit", "true");
    MPI_Info_set(info, "accumulate_ops", "same_op");
    CHECK_OK(MPI_Win_allocate(8 + 8 * (rank % 2), 4 + 4 * (rank % 2), info, MPI_COMM_WORLD, &base, &made));
    CHECK_OK(MPI_Win_set_errhandler(made, MPI_ERRORS_RETURN));
    base[0] = base[1] = 0;
    CHECK_OK(MPI_Win_fence(0, made));
    CHECK_OK(MPI_Put(&five, 1, MPI_INT, next, (bytes - 4) / unit, 1, MPI_INT, made));
    CHECK_CLASS(MPI_Put(&five, 1, MPI_INT, next, bytes / unit, 1, MPI_INT, made), MPI_ERR_RMA_RANGE);
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, made));
    CHECK_OK(MPI_Win_lock_all(0, made));
    for (int i = 0; i < 100; ++i) {
        CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, made));
        CHECK_OK(MPI_Fetch_and_op(&five, &highest, MPI_INT, 0, 0, MPI_MAX, made));
    }
    CHECK_OK(MPI_Win_unlock_all(made));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, made));
    CHECK_OK(MPI_Get(&highest, 1, MPI_INT, 0, 0, 1, MPI_INT, made));
    CHECK_OK(MPI_Win_unlock(0, made));
    /* The first MPI_MAX raises it to 5 at the latest; no addition behind it is lost. */
    CHECK(highest >= 100 * size && highest <= 100 * size + 5);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_free(&made));
    MPI_Info_free(&info);
}

int main(void) {
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(2, MPI_INT, &uncommitted);
    MPI_Type_contiguous(1, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Type_vector(2, 1, 16, MPI_INT, &vector);
    MPI_Type_commit(&vector);
    const int lengths[2] = {1, 1};
    const MPI_Aint places[2] = {0, 4};
    const MPI_Datatype types[2] = {MPI_INT, MPI_FLOAT};
    MPI_Type_create_struct(2, lengths, places, types, &mixed);
    MPI_Type_commit(&mixed);
    MPI_Op_create(do_nothing, 1, &own_op);
    CHECK_OK(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Win_lock_all(0, win));
    test_transfers();
    test_ops();
    test_requests();
    CHECK_OK(MPI_Win_unlock_all(win));
    test_large_forms();
    test_untrue_hints();
    test_constructors();
    test_different_constructors();
    test_component();
    CHECK_OK(MPI_Win_free(&win));
    MPI_Type_free(&uncommitted);
    MPI_Type_free(&pair);
    MPI_Type_free(&vector);
    MPI_Type_free(&mixed);
    MPI_Op_free(&own_op);
    return finish();
}
