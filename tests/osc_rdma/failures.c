/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 fails, in a job that goes on: with the lock of rank 1, or while others wait for it otherwise. Each wait of the
 * others ends with MPI_ERR_PROC_ABORTED. The case ends with the status of the process that was killed. */
#include "tests/mpi_check/check.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

/* A process that waits for a failed one sleeps; how soon the failure is known depends on the launcher. */
static void survivors_of(MPI_Win win, const char* what, MPI_Comm rest) {
    int value = 1;
    if (strcmp(what, "lock") == 0) {
        CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win), MPI_ERR_PROC_ABORTED);
    } else if (strcmp(what, "fence") == 0) {
        CHECK_CLASS(MPI_Win_fence(0, win), MPI_ERR_PROC_ABORTED);
    } else if (strcmp(what, "start") == 0) {
        MPI_Group world, first;
        const int zero = 0;
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        MPI_Group_incl(world, 1, &zero, &first);
        CHECK_CLASS(MPI_Win_start(first, 0, win), MPI_ERR_PROC_ABORTED);
        MPI_Group_free(&first);
        MPI_Group_free(&world);
    } else if (strcmp(what, "target") == 0) {
        /* Until the failure is known, operations on memory of the failed process fail one by one. */
        int code = MPI_SUCCESS;
        while (code == MPI_SUCCESS) {
            code = MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
            if (code == MPI_SUCCESS) {
                code = MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
                const int unlocked = MPI_Win_unlock(0, win);
                code = code == MPI_SUCCESS ? unlocked : code;
            }
        }
        CHECK_CLASS(code, MPI_ERR_PROC_ABORTED);
        /* The others are reached. */
        const int next = rank % (size - 1) + 1;
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win));
        CHECK_OK(MPI_Put(&rank, 1, MPI_INT, next, 1, 1, MPI_INT, win));
        CHECK_OK(MPI_Win_unlock(next, win));
        /* The kernel refuses access to a process before its parent learns that it has ended. A survivor that left then
         * would be the first process whose end the launcher sees, and the status would be its own. */
        CHECK_CLASS(MPI_Win_fence(0, win), MPI_ERR_PROC_ABORTED);
    }
    MPI_Barrier(rest);
}

int main(int argc, char** argv) {
    const char* const what = argc > 1 ? argv[1] : "lock";
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm rest;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &rest);
    int memory[2] = {0, 0};
    MPI_Win win;
    CHECK_OK(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    if (rank == 0) {
        if (strcmp(what, "lock") == 0) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        usleep(100000); /* most of the others sleep then; either way they return the error */
        raise(SIGKILL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    survivors_of(win, what, rest);
    if (failures()) {
        MPI_Abort(rest, 3);
    }
    fflush(stdout);
    _exit(0); /* MPI_Finalize needs all processes */
}
