/* SPDX-License-Identifier: BSD-3-Clause */
/* The last rank fails with an exclusive lock on rank 0, and without the post and the fence for which others wait. Every
 * call that waits for it returns MPI_ERR_PROC_ABORTED, and the survivors go on. */
#define _GNU_SOURCE
#include "tests/mpi_check/survivors.h"

#include <signal.h>
#include <unistd.h>

static int rank, size, victim;

static MPI_Win window(long** memory) {
    MPI_Win win;
    MPI_Win_allocate(2 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, memory, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    (*memory)[0] = (*memory)[1] = 0;
    return win;
}

static MPI_Comm survivors(void) {
    MPI_Group all, left;
    MPI_Comm comm;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_excl(all, 1, &victim, &left);
    MPI_Comm_create_group(MPI_COMM_WORLD, left, 1, &comm);
    MPI_Group_free(&all);
    MPI_Group_free(&left);
    return comm;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    victim = size - 1;
    long* memory;
    MPI_Win locked = window(&memory), started = window(&memory), fenced = window(&memory);
    MPI_Win posted = window(&memory), shared = window(&memory);
    if (rank == victim) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, locked);
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, shared);
        MPI_Barrier(MPI_COMM_WORLD);
        usleep(100000); /* the others wait by then */
        raise(SIGKILL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Group failed = group_of(1, &victim);
    CHECK_CLASS(MPI_Win_lock(rank % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, locked), MPI_ERR_PROC_ABORTED);
    CHECK_CLASS(MPI_Win_start(failed, 0, started), MPI_ERR_PROC_ABORTED);
    CHECK_OK(MPI_Win_post(failed, 0, posted));
    CHECK_CLASS(MPI_Win_wait(posted), MPI_ERR_PROC_ABORTED);
    CHECK_CLASS(MPI_Win_fence(0, fenced), MPI_ERR_PROC_ABORTED);

    /* A shared lock of the failed rank does not keep readers out, and its memory and the others' can be used. */
    MPI_Comm comm = survivors();
    const long one = 1;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, shared));
    CHECK_OK(MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, shared));
    CHECK_OK(MPI_Win_unlock(0, shared));
    MPI_Barrier(comm);
    if (rank == 0) {
        CHECK_EQUAL(memory[0], size - 1); /* of `shared`, the last window */
    }
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, shared), MPI_ERR_PROC_ABORTED);
    MPI_Barrier(comm);
    MPI_Group_free(&failed);
    MPI_Comm_free(&comm);
    return finish_survivor();
}
