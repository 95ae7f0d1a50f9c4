/* SPDX-License-Identifier: BSD-3-Clause */
/* A process waits for the exclusive lock that another one holds shared. A third one gets it ahead of the queue, by
 * MPI_Win_lock_all, and fails: the one that waits gets an error. With an argument, the target itself waits. */
#define _GNU_SOURCE
#include "tests/mpi_check/shared_ints.h"
#include "tests/mpi_check/survivors.h"

#include <signal.h>

enum { target, holder, waiter, victim };
enum { held, waits, ahead, ended, flags };

static int* flag;
static int own_lock;

static void set(int which) {
    __atomic_store_n(&flag[which], 1, __ATOMIC_RELEASE);
}

/* The target makes progress meanwhile. */
static void await(int which, int makes_progress) {
    while (__atomic_load_n(&flag[which], __ATOMIC_ACQUIRE) == 0) {
        int any;
        if (makes_progress) {
            MPI_Iprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &any, MPI_STATUS_IGNORE);
        }
        usleep(100);
    }
}

static void wait_for_lock(MPI_Win window) {
    set(waits);
    int code = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
    if (code == MPI_SUCCESS) {
        code = MPI_Win_unlock(target, window);
    }
    CHECK_EQUAL(class_of(code), MPI_ERR_PROC_ABORTED);
    set(ended);
}

int main(int argc, char** argv) {
    static int memory[4];
    const int one = 1;
    int rank;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    flag = shared_ints(MPI_COMM_WORLD, flags);
    own_lock = argc > 1;
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == target) {
        if (own_lock) {
            await(held, 1);
            wait_for_lock(window);
        }
        await(ended, 1);
    } else if (rank == holder) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window));
        CHECK_OK(MPI_Put(&one, 1, MPI_INT, target, 1, 1, MPI_INT, window));
        CHECK_OK(MPI_Win_flush(target, window));
        set(held);
        await(ahead, 0);
        usleep(300000); /* the victim has failed */
        MPI_Win_unlock(target, window);
        await(ended, 1);
    } else if (rank == waiter) {
        if (!own_lock) {
            await(held, 0);
            wait_for_lock(window);
        }
        await(ended, 1);
    } else {
        await(waits, 0);
        usleep(200000); /* the request is in the queue */
        CHECK_OK(MPI_Win_lock_all(0, window));
        CHECK_OK(MPI_Put(&one, 1, MPI_INT, target, 3, 1, MPI_INT, window));
        CHECK_OK(MPI_Win_flush(target, window));
        set(ahead);
        usleep(50000);
        raise(SIGKILL);
    }
    if (failures()) {
        pause(); /* mpirun's --timeout ends the job */
    }
    _exit(0);
}
