/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads and stores in the memory of other members beside one-sided operations, and derived types on both sides. */
#include "tests/mpi_check/check.h"

#include <stdint.h>
#include <stdlib.h>

enum { length = 64 };

static int rank, size;

static void loads_and_stores(MPI_Win win, int* own, int contiguous) {
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    for (int round = 0; round < 20; ++round) {
        const int target = (rank + round) % size;
        int *theirs, unit;
        MPI_Aint bytes;
        MPI_Win_shared_query(win, target, &bytes, &unit, &theirs);
        CHECK_EQUAL(bytes, length * sizeof(int));
        CHECK_EQUAL(unit, sizeof(int));
        CHECK(target != rank || theirs == own);
        if (contiguous) {
            int* first;
            MPI_Win_shared_query(win, 0, &bytes, &unit, &first);
            CHECK_EQUAL(theirs - first, length * target);
        }
        for (int i = 0; i < length; ++i) {
            theirs[i] = round * 1000 + i;
        }
        MPI_Win_sync(win);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_sync(win);
        int got[length];
        MPI_Get(got, length, MPI_INT, (rank + 1) % size, 0, length, MPI_INT, win);
        MPI_Win_flush((rank + 1) % size, win);
        for (int i = 0; i < length; ++i) {
            CHECK_EQUAL(own[i], round * 1000 + i);
            CHECK_EQUAL(got[i], round * 1000 + i);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_unlock_all(win);
}

/* A column of a matrix becomes a row, and the other way round. */
static void derived(MPI_Win win, int* own) {
    enum { side = 8 };
    MPI_Datatype column;
    MPI_Type_vector(side, 1, side, MPI_INT, &column);
    MPI_Type_commit(&column);
    int matrix[length], back[length];
    for (int i = 0; i < length; ++i) {
        matrix[i] = rank * 100 + i;
    }
    const int target = (rank + 1) % size, origin = (rank + size - 1) % size;
    MPI_Win_fence(0, win);
    for (int i = 0; i < side; ++i) {
        MPI_Put(matrix + i * side, side, MPI_INT, target, i, 1, column, win);
    }
    MPI_Win_fence(0, win);
    for (int i = 0; i < length; ++i) {
        CHECK_EQUAL(own[i], origin * 100 + i % side * side + i / side);
    }
    for (int i = 0; i < side; ++i) {
        MPI_Get(back + i * side, side, MPI_INT, target, i, 1, column, win);
    }
    MPI_Win_fence(0, win);
    for (int i = 0; i < length; ++i) {
        CHECK_EQUAL(back[i], matrix[i]);
    }
    for (int i = 0; i < side; ++i) {
        MPI_Put(matrix + i, 1, column, target, side - 1 - i, 1, column, win);
    }
    MPI_Win_fence(0, win);
    for (int i = 0; i < length; ++i) {
        CHECK_EQUAL(own[i], origin * 100 + i / side * side + side - 1 - i % side);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Type_free(&column);
}

/* A member without memory takes part in everything. */
static void empty_members(void) {
    int* own;
    MPI_Win win;
    const int full = size - 1;
    MPI_Win_allocate(rank == full ? 256 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win);
    const char mark = (char)(rank + 1);
    MPI_Win_fence(0, win);
    MPI_Put(&mark, 1, MPI_CHAR, full, rank, 1, MPI_CHAR, win);
    MPI_Win_fence(0, win);
    if (rank == full) {
        for (int i = 0; i < size; ++i) {
            CHECK_EQUAL(((char*)own)[i], i + 1);
        }
    }
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Win_unlock(0, win);
    MPI_Win_free(&win);
}

/* Windows of several megabytes, which have a chunk of memory each. */
static void large(void) {
    enum { bytes = 5 << 20 };
    char* own;
    MPI_Win win;
    char* data = malloc(bytes);
    for (int i = 0; i < bytes; ++i) {
        data[i] = (char)(i * 7 + rank);
    }
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win);
    MPI_Win_fence(0, win);
    MPI_Put(data, bytes, MPI_CHAR, (rank + 1) % size, 0, bytes, MPI_CHAR, win);
    MPI_Win_fence(0, win);
    const int origin = (rank + size - 1) % size;
    int wrong = 0;
    for (int i = 0; i < bytes; ++i) {
        wrong += own[i] != (char)(i * 7 + origin);
    }
    CHECK_EQUAL(wrong, 0);
    MPI_Win_free(&win);
    free(data);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int contiguous = 0; contiguous < 2; ++contiguous) {
        MPI_Info info;
        int* own;
        MPI_Win win;
        MPI_Info_create(&info);
        MPI_Info_set(info, "alloc_shared_noncontig", contiguous ? "false" : "true");
        MPI_Win_allocate_shared(length * sizeof(int), sizeof(int), info, MPI_COMM_WORLD, &own, &win);
        loads_and_stores(win, own, contiguous);
        derived(win, own);
        MPI_Win_free(&win);
        MPI_Info_free(&info);
    }
    empty_members();
    large();
    return finish();
}
