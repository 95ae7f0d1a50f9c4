/* SPDX-License-Identifier: BSD-3-Clause */
/* The last rank of a window is killed while others wait for it; failure_test.py runs it under mpirun
 * --disable-auto-cleanup. Waits for the killed rank end with MPI_ERR_PROC_ABORTED, and so do requests for a lock that
 * it had, with all operations behind them. failure flush|long_flush|get|lock|start|wait|fence|credits|leave */
#define _GNU_SOURCE
#include "tests/mpi_check/shared_ints.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ints = 200000 };

static int rank, size, victim, failures, *asleep; /* asleep[1]: rank 0 has left MPI_Finalize */

static void check(int condition, const char* what) {
    if (!condition) {
        printf("rank %d: %s\n", rank, what);
        ++failures;
    }
}

static void check_aborted(int code, const char* what) {
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    if (error_class != MPI_ERR_PROC_ABORTED) {
        printf("rank %d: %s returned class %d\n", rank, what, error_class);
        ++failures;
    }
}

/* The others go on when the victim handles no message any more. */
static void die_if_victim(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == victim) {
        __atomic_store_n(asleep, 1, __ATOMIC_RELEASE);
        usleep(300000); /* the others wait */
        raise(SIGKILL);
    }
    while (__atomic_load_n(asleep, __ATOMIC_ACQUIRE) == 0) {
        usleep(1000);
    }
}

/* Its operations are not complete before the victim makes progress, which it never does again. */
static void flush(MPI_Win win, const int* data, int count) {
    MPI_Win_lock_all(0, win);
    die_if_victim();
    MPI_Put(data, count, MPI_INT, victim, 0, count, MPI_INT, win);
    check_aborted(MPI_Win_flush(victim, win), "MPI_Win_flush");
    check_aborted(MPI_Win_flush(victim, win), "another MPI_Win_flush");
    const int next = (rank + 1) % victim;
    int value = -1;
    check(MPI_Get(&value, 1, MPI_INT, next, 0, 1, MPI_INT, win) == MPI_SUCCESS, "MPI_Get from another rank");
    check(MPI_Win_flush(next, win) == MPI_SUCCESS, "MPI_Win_flush of another rank");
    check(value == next, "its result");
}

static void get(MPI_Win win, int* data) {
    MPI_Win_lock_all(0, win);
    die_if_victim();
    MPI_Request request;
    if (MPI_Rget(data, 1, MPI_INT, victim, 0, 1, MPI_INT, win, &request) == MPI_SUCCESS) {
        MPI_Get(data + 1, ints - 1, MPI_INT, victim, 0, ints - 1, MPI_INT, win);
        MPI_Win_flush(victim, win); /* finds that the rank has failed */
        check_aborted(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait for MPI_Rget");
    }
}

/* Operations of all kinds, some with data that does not fit into a control message. They change nothing. */
static void operate(MPI_Win win, int* data) {
    static int results[ints];
    int value = -1;
    MPI_Datatype every_other;
    MPI_Type_vector(ints / 4, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    MPI_Put(data, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Put(data, ints, MPI_INT, 0, 0, ints, MPI_INT, win);
    MPI_Put(data, ints / 4, MPI_INT, 0, 0, 1, every_other, win);
    MPI_Accumulate(data, ints, MPI_INT, 0, 0, ints, MPI_INT, MPI_SUM, win);
    MPI_Get_accumulate(data, ints, MPI_INT, results, ints, MPI_INT, 0, 0, ints, MPI_INT, MPI_SUM, win);
    MPI_Fetch_and_op(data, &value, MPI_INT, 0, 0, MPI_SUM, win);
    MPI_Get(results, ints, MPI_INT, 0, 0, ints, MPI_INT, win);
    MPI_Type_free(&every_other);
    MPI_Request request;
    if (MPI_Rget(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &request) == MPI_SUCCESS) {
        check_aborted(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait for MPI_Rget");
    }
    check(value == -1, "nothing has been read");
}

/* The victim has the lock of rank 0, which computes nothing; all others want it, at first before it fails. */
static void lock(MPI_Win win, int* data) {
    int value = -1;
    if (rank == victim) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
        MPI_Win_flush(0, win);
    }
    die_if_victim();
    for (int i = 0; i < 3; ++i) {
        const int code = MPI_Win_lock(rank % 2 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, win);
        if (code != MPI_SUCCESS) {
            check_aborted(code, "MPI_Win_lock");
            check(rank == 0, "the lock of another process is not waited for");
            continue;
        }
        operate(win, data);
        check_aborted(MPI_Win_flush(0, win), "MPI_Win_flush");
        check_aborted(MPI_Win_unlock(0, win), "MPI_Win_unlock");
    }
    /* Those of the others are as they were. */
    const int next = rank + 1 < victim ? rank + 1 : 1;
    check(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win) == MPI_SUCCESS, "MPI_Win_lock of another rank");
    check(MPI_Get(&value, 1, MPI_INT, next, 0, 1, MPI_INT, win) == MPI_SUCCESS, "MPI_Get from another rank");
    check(MPI_Win_unlock(next, win) == MPI_SUCCESS, "MPI_Win_unlock of another rank");
    check(value == next, "the value in the window of another rank");
}

/* No rank ends before all others have what they need of its window. */
static void join_survivors(void) {
    int value = 0;
    for (int other = 1; other < victim; ++other) {
        if (rank == 0) {
            MPI_Recv(&value, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    if (rank != 0) {
        MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int other = 1; other < victim; ++other) {
        if (rank == 0) {
            MPI_Send(&value, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
        }
    }
}

static void start_or_wait(MPI_Win win, int starts) {
    MPI_Group all, only;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &victim, &only);
    if (!starts && rank != victim) {
        MPI_Win_post(only, 0, win);
    }
    die_if_victim();
    check_aborted(starts ? MPI_Win_start(only, 0, win) : MPI_Win_wait(win), starts ? "MPI_Win_start" : "MPI_Win_wait");
    MPI_Group_free(&only);
    MPI_Group_free(&all);
}

static void fence(MPI_Win win, const int* data) {
    MPI_Win_fence(0, win);
    MPI_Put(data, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    die_if_victim();
    MPI_Put(data, 1, MPI_INT, victim, 0, 1, MPI_INT, win);
    check_aborted(MPI_Win_fence(0, win), "MPI_Win_fence");
}

/* More operations than the target, which does not handle them, allows: they wait for it. */
static void credits_of(int target, MPI_Win win, const int* data) {
    int code = MPI_SUCCESS;
    for (int i = 0; i < 10000 && code == MPI_SUCCESS; ++i) {
        code = MPI_Put(data, 1, MPI_INT, target, 0, 1, MPI_INT, win);
    }
    check_aborted(code, "MPI_Put");
}

static void credits(MPI_Win win, const int* data) {
    MPI_Win_lock_all(0, win);
    die_if_victim();
    credits_of(victim, win, data);
}

/* After the failure, rank 0 leaves MPI_Finalize before the others, of 4 ranks, have what they need of its window. */
static void leave(MPI_Win win, int* data) {
    MPI_Request requests[2];
    MPI_Win_lock_all(0, win);
    die_if_victim();
    if (rank == 0) {
        return;
    }
    while (__atomic_load_n(&asleep[1], __ATOMIC_ACQUIRE) == 0) {
        usleep(1000);
    }
    const int posted = MPI_Rput(data, ints, MPI_INT, 0, 0, ints, MPI_INT, win, &requests[0]);
    const int read = MPI_Rget(data, ints, MPI_INT, 0, 0, ints, MPI_INT, win, &requests[1]);
    check_aborted(posted == MPI_SUCCESS ? MPI_Wait(&requests[0], MPI_STATUS_IGNORE) : posted, "MPI_Rput");
    check_aborted(read == MPI_SUCCESS ? MPI_Wait(&requests[1], MPI_STATUS_IGNORE) : read, "MPI_Rget");
    check_aborted(MPI_Win_flush(0, win), "MPI_Win_flush");
    credits_of(0, win, data);
    check_aborted(MPI_Win_unlock_all(win), "MPI_Win_unlock_all");
    int value = -1;
    const int other = 3 - rank;
    check(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, other, 0, win) == MPI_SUCCESS, "MPI_Win_lock of another rank");
    check(MPI_Get(&value, 1, MPI_INT, other, 0, 1, MPI_INT, win) == MPI_SUCCESS, "MPI_Get from another rank");
    check(MPI_Win_unlock(other, win) == MPI_SUCCESS, "MPI_Win_unlock of another rank");
    check(value == other, "its result");
    MPI_Sendrecv(NULL, 0, MPI_INT, other, 0, NULL, 0, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    victim = size - 1;
    asleep = shared_ints(MPI_COMM_WORLD, 2);
    int* memory = malloc(ints * sizeof(int));
    int* data = malloc(ints * sizeof(int));
    for (int i = 0; i < ints; ++i) {
        memory[i] = data[i] = rank;
    }
    MPI_Win win;
    MPI_Win_create(memory, ints * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    if (strcmp(what, "flush") == 0) {
        flush(win, data, 1);
    } else if (strcmp(what, "long_flush") == 0) {
        flush(win, data, ints);
    } else if (strcmp(what, "get") == 0) {
        get(win, data);
    } else if (strcmp(what, "lock") == 0) {
        lock(win, data);
    } else if (strcmp(what, "start") == 0 || strcmp(what, "wait") == 0) {
        start_or_wait(win, strcmp(what, "start") == 0);
    } else if (strcmp(what, "fence") == 0) {
        fence(win, data);
    } else if (strcmp(what, "leave") == 0) {
        leave(win, data);
    } else {
        credits(win, data);
    }
    if (strcmp(what, "leave") != 0) {
        join_survivors();
    }
    if (strcmp(what, "lock") == 0 && rank == 0) {
        int changed = 0;
        for (int i = 0; i < ints; ++i) {
            changed += memory[i] != 0;
        }
        check(changed == 0, "the memory of rank 0");
    }
    check(MPI_Finalize() == MPI_SUCCESS, "MPI_Finalize"); /* it cannot free the window, which all members do together */
    if (rank == 0) {
        __atomic_store_n(&asleep[1], 1, __ATOMIC_RELEASE);
    }
    printf("rank %d survived%s\n", rank, failures == 0 ? "" : " with failures");
    free(memory);
    free(data);
    return failures != 0;
}
