/* SPDX-License-Identifier: BSD-3-Clause */
/* Two windows of one process with different components, chosen by info key patchbay_osc, in use at the same time; and
 * the key of a communicator's info, which its windows inherit. */
#include "tests/mpi_check/check.h"

#include <string.h>

static int rank, size;

static void component_of(MPI_Win win, char* name) {
    MPI_Info used;
    int length = 64, flag = 0;
    CHECK_OK(MPI_Win_get_info(win, &used));
    CHECK_OK(MPI_Info_get_string(used, "patchbay_osc", &length, name, &flag));
    CHECK(flag);
    MPI_Info_free(&used);
}

static MPI_Win allocate(MPI_Comm comm, const char* component, int** base) {
    MPI_Info info;
    MPI_Win win = MPI_WIN_NULL;
    MPI_Info_create(&info);
    if (component != NULL) {
        MPI_Info_set(info, "patchbay_osc", component);
    }
    CHECK_OK(MPI_Win_allocate(64 * sizeof(int), sizeof(int), info, comm, base, &win));
    MPI_Info_free(&info);
    return win;
}

static void test_two(void) {
    int *first, *second, value = 10 + rank;
    char name[64] = "", other[64] = "";
    const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    MPI_Win usual = allocate(MPI_COMM_WORLD, NULL, &first);
    MPI_Win chosen = allocate(MPI_COMM_WORLD, "pt2pt", &second);
    component_of(usual, name);
    component_of(chosen, other);
    CHECK(strcmp(other, "pt2pt") == 0);
    CHECK(strcmp(name, "pt2pt") != 0);
    CHECK_OK(MPI_Win_fence(0, usual));
    CHECK_OK(MPI_Win_fence(0, chosen));
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, next, 1, 1, MPI_INT, usual));
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, next, 2, 1, MPI_INT, chosen));
    CHECK_OK(MPI_Win_fence(0, chosen));
    CHECK_OK(MPI_Win_fence(0, usual));
    CHECK_EQUAL(first[1], 10 + previous);
    CHECK_EQUAL(second[2], 10 + previous);
    CHECK_OK(MPI_Win_free(&chosen));
    CHECK_OK(MPI_Win_free(&usual));
}

static void test_inherited(void) {
    MPI_Info info;
    MPI_Comm comm;
    int* base;
    char name[64] = "";
    MPI_Info_create(&info);
    MPI_Info_set(info, "patchbay_osc", "pt2pt");
    CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
    MPI_Info_free(&info);
    MPI_Win win = allocate(comm, NULL, &base);
    component_of(win, name);
    CHECK(strcmp(name, "pt2pt") == 0);
    CHECK_OK(MPI_Win_free(&win));
    win = allocate(comm, "^pt2pt", &base);
    component_of(win, name);
    CHECK(strcmp(name, "pt2pt") != 0);
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Comm_free(&comm));
}

int main(void) {
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    test_two();
    test_inherited();
    return finish();
}
