/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows of every flavor: construction, attributes, hints, names, the group, shared memory, and destruction. */
#include "tests/mpi_check/check.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { bytes = 4096 };
static int rank, size;
static char own[bytes];

static void set(MPI_Info info, const char* key, const char* value) {
    CHECK_OK(MPI_Info_set(info, key, value));
}

static int has_value(MPI_Info info, const char* key, const char* wanted) {
    char value[256];
    int length = sizeof value, flag = 0;
    CHECK_OK(MPI_Info_get_string(info, key, &length, value, &flag));
    return flag && strcmp(value, wanted) == 0;
}

static MPI_Win make(int flavor, MPI_Info info, int unit, void* base) {
    MPI_Win win = MPI_WIN_NULL;
    void** place = base;
    switch (flavor) {
    case MPI_WIN_FLAVOR_CREATE:
        *place = own;
        CHECK_OK(MPI_Win_create(own, bytes, unit, info, MPI_COMM_WORLD, &win));
        break;
    case MPI_WIN_FLAVOR_ALLOCATE:
        CHECK_OK(MPI_Win_allocate(bytes, unit, info, MPI_COMM_WORLD, base, &win));
        break;
    case MPI_WIN_FLAVOR_SHARED:
        CHECK_OK(MPI_Win_allocate_shared(bytes, unit, info, MPI_COMM_WORLD, base, &win));
        break;
    default:
        *place = MPI_BOTTOM;
        CHECK_OK(MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win));
    }
    CHECK(win != MPI_WIN_NULL);
    return win;
}

static void check_attributes(MPI_Win win, int flavor, int unit, const void* base) {
    const int dynamic = flavor == MPI_WIN_FLAVOR_DYNAMIC;
    void* value = NULL;
    int flag = 0;
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag));
    CHECK(flag && value == base);
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &flag));
    CHECK(flag && *(MPI_Aint*)value == (dynamic ? 0 : bytes));
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &value, &flag));
    CHECK(flag && *(int*)value == (dynamic ? 1 : unit));
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &flag));
    CHECK(flag && *(int*)value == flavor);
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_MODEL, &value, &flag));
    CHECK(flag && *(int*)value == MPI_WIN_UNIFIED);
}

static void check_group(MPI_Win win) {
    MPI_Group group, world;
    int result = MPI_UNEQUAL;
    CHECK_OK(MPI_Win_get_group(win, &group));
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Group_compare(group, world, &result));
    CHECK_EQUAL(result, MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
}

static void check_name(MPI_Win win) {
    char name[MPI_MAX_OBJECT_NAME];
    int length = -1;
    CHECK_OK(MPI_Win_get_name(win, name, &length));
    CHECK(length == 0 && name[0] == '\0');
    CHECK_OK(MPI_Win_set_name(win, "table"));
    CHECK_OK(MPI_Win_get_name(win, name, &length));
    CHECK(length == 5 && strcmp(name, "table") == 0);
    CHECK_OK(MPI_Win_get_name(MPI_WIN_NULL, name, &length));
    CHECK(strcmp(name, "MPI_WIN_NULL") == 0);
}

/* Each process puts its rank into the memory of the next one, and gets it back. */
static void check_transfer(MPI_Win win, void* base) {
    const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    int value = 1000 + rank, got = -1;
    *(int*)base = -1;
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, next, 0, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_EQUAL(*(int*)base, 1000 + previous);
    CHECK_OK(MPI_Get(&got, 1, MPI_INT, next, 0, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    CHECK_EQUAL(got, value);
}

static void test_flavor(int flavor, int unit) {
    void* base = NULL;
    MPI_Win win = make(flavor, MPI_INFO_NULL, unit, &base);
    check_attributes(win, flavor, unit, base);
    check_group(win);
    check_name(win);
    if (flavor != MPI_WIN_FLAVOR_DYNAMIC) {
        check_transfer(win, base);
    }
    CHECK_OK(MPI_Win_free(&win));
    CHECK(win == MPI_WIN_NULL);
}

/* The members have different sizes, some none. Their memory is contiguous unless all ask for memory of their own. */
static void test_sizes(int of_first, int of_others) {
    const int noncontiguous = of_first && (size == 1 || of_others);
    MPI_Info info, used;
    MPI_Win win;
    char* base = NULL;
    const MPI_Aint length = rank % 2 == 0 ? 100 * (rank + 1) : 0;
    MPI_Info_create(&info);
    set(info, "alloc_shared_noncontig", (rank == 0 ? of_first : of_others) ? "true" : "false");
    CHECK_OK(MPI_Win_allocate_shared(length, 1, info, MPI_COMM_WORLD, &base, &win));
    MPI_Info_free(&info);
    CHECK_OK(MPI_Win_get_info(win, &used));
    CHECK(has_value(used, "alloc_shared_noncontig", noncontiguous ? "true" : "false"));
    MPI_Info_free(&used);
    if (length > 0) {
        memset(base, rank, length);
    }
    CHECK_OK(MPI_Win_fence(0, win));
    const char* expected = NULL;
    for (int r = 0; r < size; ++r) {
        MPI_Aint found = -1;
        int unit = -1;
        char* theirs = NULL;
        CHECK_OK(MPI_Win_shared_query(win, r, &found, &unit, &theirs));
        CHECK_EQUAL(found, r % 2 == 0 ? 100 * (r + 1) : 0);
        CHECK_EQUAL(unit, 1);
        CHECK(found == 0 || (theirs[0] == r && theirs[found - 1] == r));
        CHECK(noncontiguous || r == 0 || theirs == expected);
        expected = theirs + found;
    }
    MPI_Aint found = -1;
    MPI_Aint unit = -1;
    char *first = NULL, *of_zero = NULL;
    int small = 0;
    CHECK_OK(MPI_Win_shared_query_c(win, MPI_PROC_NULL, &found, &unit, &first));
    CHECK_EQUAL(found, 100);
    CHECK_OK(MPI_Win_shared_query(win, 0, &found, &small, &of_zero));
    CHECK(first == of_zero);
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Win_free(&win));
}

static void test_no_memory_at_all(void) {
    MPI_Win win;
    void* base = &win;
    MPI_Aint length = -1;
    int unit = -1;
    CHECK_OK(MPI_Win_allocate_shared(0, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    CHECK_OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &length, &unit, &base));
    CHECK(length == 0 && base == NULL);
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Win_allocate(0, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    CHECK_OK(MPI_Win_free(&win));
}

static void test_query_of_other_flavors(void) {
    MPI_Win win;
    void *base = NULL, *found = &win;
    MPI_Aint length = -1;
    int unit = -1;
    const int next = (rank + 1) % size;
    CHECK_OK(MPI_Win_create(own, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_shared_query(win, next, &length, &unit, &found));
    CHECK(size == 1 ? found == own && length == bytes : found == NULL && length == 0);
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    *(int*)base = rank;
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Win_shared_query(win, next, &length, &unit, &found));
    CHECK(found != NULL ? length == bytes && *(int*)found == next : length == 0);
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Win_free(&win));
}

static void test_hints(void) {
    MPI_Info info, used;
    MPI_Win win;
    char* base = NULL;
    MPI_Info_create(&info);
    set(info, "no_locks", "true");
    set(info, "accumulate_ordering", "none");
    set(info, "accumulate_ops", "anything"); /* no value that it has */
    set(info, "mpi_minimum_memory_alignment", "4096");
    set(info, "unknown_key", "1");
    CHECK_OK(MPI_Win_allocate(bytes, 1, info, MPI_COMM_WORLD, &base, &win));
    CHECK_EQUAL((uintptr_t)base % 4096, 0);
    CHECK_OK(MPI_Win_get_info(win, &used));
    CHECK(has_value(used, "no_locks", "true"));
    CHECK(has_value(used, "accumulate_ordering", "none"));
    CHECK(has_value(used, "accumulate_ops", "same_op_no_op"));
    CHECK(has_value(used, "same_size", "false"));
    CHECK(has_value(used, "same_disp_unit", "false"));
    CHECK(has_value(used, "mpi_accumulate_granularity", "0"));
    CHECK(has_value(used, "mpi_minimum_memory_alignment", "4096"));
    CHECK(!has_value(used, "unknown_key", "1"));
    MPI_Info_free(&used);
    MPI_Info_free(&info);
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_RMA_SYNC);
    MPI_Info_create(&info);
    set(info, "no_locks", "false");
    set(info, "accumulate_ops", "same_op");
    set(info, "mpi_minimum_memory_alignment", "64");
    CHECK_OK(MPI_Win_set_info(win, info));
    MPI_Info_free(&info);
    CHECK_OK(MPI_Win_get_info(win, &used));
    CHECK(has_value(used, "no_locks", "false"));
    CHECK(has_value(used, "accumulate_ops", "same_op"));
    CHECK(has_value(used, "mpi_minimum_memory_alignment", "4096"));
    MPI_Info_free(&used);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    CHECK_OK(MPI_Win_unlock(0, win));
    CHECK_OK(MPI_Win_free(&win));
}

/* Only windows that the key concerns have it. A later value is that of the program, as in MPICH; the memory stays. */
static void test_hint_of_shared_memory(void) {
    for (int flavor = MPI_WIN_FLAVOR_CREATE; flavor <= MPI_WIN_FLAVOR_SHARED; ++flavor) {
        for (int apart = 0; apart < 2; ++apart) {
            MPI_Info info, used;
            void* base = NULL;
            char value[8];
            int length = sizeof value, flag = 0;
            MPI_Info_create(&info);
            set(info, "alloc_shared_noncontig", apart ? "true" : "false");
            MPI_Win win = make(flavor, info, 1, &base);
            set(info, "alloc_shared_noncontig", apart ? "false" : "true");
            CHECK_OK(MPI_Win_set_info(win, info));
            MPI_Info_free(&info);
            CHECK_OK(MPI_Win_get_info(win, &used));
            CHECK_OK(MPI_Info_get_string(used, "alloc_shared_noncontig", &length, value, &flag));
            CHECK_EQUAL(flag, flavor == MPI_WIN_FLAVOR_SHARED);
            CHECK(!flag || strcmp(value, apart ? "false" : "true") == 0);
            MPI_Info_free(&used);
            CHECK_OK(MPI_Win_free(&win));
        }
    }
}

/* Many windows one after the other: nothing that one of them takes may be missing for the next. */
static void test_many(void) {
    for (int i = 0; i < 200; ++i) {
        void* base = NULL;
        MPI_Win win = make(i % 4 + MPI_WIN_FLAVOR_CREATE, MPI_INFO_NULL, 1, &base);
        CHECK_OK(MPI_Win_free(&win));
    }
}

int main(void) {
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int flavor = MPI_WIN_FLAVOR_CREATE; flavor <= MPI_WIN_FLAVOR_SHARED; ++flavor) {
        test_flavor(flavor, 1);
        test_flavor(flavor, 8);
    }
    test_sizes(0, 0);
    test_sizes(1, 1);
    test_sizes(1, 0);
    test_sizes(0, 1);
    test_no_memory_at_all();
    test_query_of_other_flavors();
    test_hints();
    test_hint_of_shared_memory();
    test_many();
    return finish();
}
