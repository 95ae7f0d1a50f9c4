/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks of all members and exclusive locks of single ones: whatever the order in which a component takes and grants
 * them, processes that hold shared locks never wait for each other in a circle. Ranks 0 and 1 lock all members, and the
 * others want the memory of ranks 0 and 1 exclusively meanwhile. A component that is wrong does not come to an end. */
#define _GNU_SOURCE
#include "tests/mpi_check/check.h"

#include <unistd.h>

static int rank, size;

static long add_exclusively(int target, int place, MPI_Win win) {
    long value;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
    CHECK_OK(MPI_Get(&value, 1, MPI_LONG, target, place, 1, MPI_LONG, win));
    CHECK_OK(MPI_Win_flush(target, win));
    ++value;
    CHECK_OK(MPI_Put(&value, 1, MPI_LONG, target, place, 1, MPI_LONG, win));
    CHECK_OK(MPI_Win_unlock(target, win));
    return value;
}

/* Each of the two accesses the other one after exclusive requests have arrived at both. */
static void crossed(MPI_Win win, long* memory) {
    const long mine = 100 + rank;
    if (rank < 2) {
        CHECK_OK(MPI_Win_lock_all(0, win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank < 2) {
        for (int i = 0; i < 50; ++i) { /* a target may have to call the library before it knows of a request */
            int flag;
            MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
            usleep(2000);
        }
        const int other = 1 - rank;
        CHECK_OK(MPI_Put(&mine, 1, MPI_LONG, other, 1, 1, MPI_LONG, win));
        CHECK_OK(MPI_Win_flush(other, win));
        CHECK_OK(MPI_Win_unlock_all(win));
    } else {
        add_exclusively(rank % 2, 0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank < 2) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
        CHECK_EQUAL(memory[0], (size - 1 - rank) / 2);
        CHECK_EQUAL(memory[1], 100 + 1 - rank);
        CHECK_OK(MPI_Win_unlock(rank, win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The same at any time, with locks that are released soon. */
static void contended(MPI_Win win, long* memory) {
    enum { rounds = 200 };
    for (int i = 0; i < rounds; ++i) {
        if (rank < 2) {
            CHECK_OK(MPI_Win_lock_all(0, win));
            if (i % 2) {
                const long value = i;
                CHECK_OK(MPI_Put(&value, 1, MPI_LONG, 1 - rank, 1, 1, MPI_LONG, win));
            }
            CHECK_OK(MPI_Win_unlock_all(win));
        } else {
            add_exclusively((rank + i) % 2, 0, win);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank < 2) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
        CHECK_EQUAL(memory[0], (size - 1 - rank) / 2 + (size - 2) * rounds / 2);
        CHECK_OK(MPI_Win_unlock(rank, win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void run(MPI_Win win, long* memory) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    memory[0] = memory[1] = 0;
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    crossed(win, memory);
    contended(win, memory);
    MPI_Win_free(&win);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long own[2];
    long* memory;
    MPI_Win win;
    MPI_Win_create(own, sizeof own, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    run(win, own);
    MPI_Win_allocate(2 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    run(win, memory);
    MPI_Win_allocate_shared(2 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    run(win, memory);
    return finish();
}
