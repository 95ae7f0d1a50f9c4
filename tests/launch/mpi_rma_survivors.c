/* SPDX-License-Identifier: BSD-3-Clause */
/* The last rank fails while others wait for it in one-sided communication; mpi_rma_survivors_test.py runs this under
 * mpirun --disable-auto-cleanup. What needs the failed rank returns MPI_ERR_PROC_ABORTED, what does not goes on, and
 * nobody waits for ever.
 * mpi_rma_survivors holder|late|waiter|reader|all|target|fence|post|complete|operations|free [create] */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, victim, failures, created;

static void check(int condition, const char* what) {
    if (!condition) {
        printf("rank %d: %s\n", rank, what);
        ++failures;
    }
}

static int class_of(int code) {
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    return error_class;
}

static void check_aborted(int code, const char* what) {
    if (class_of(code) != MPI_ERR_PROC_ABORTED) {
        printf("rank %d: %s: class %d\n", rank, what, class_of(code));
        ++failures;
    }
}

static MPI_Win window;
static int* base;
static int own[64];

static void make_window(void) {
    if (created) {
        base = own;
        MPI_Win_create(own, sizeof own, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    } else {
        MPI_Win_allocate(sizeof own, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    }
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
    base[0] = rank;
    MPI_Win_unlock(rank, window);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void die(void) {
    raise(SIGKILL);
}

/* The first error of a sequence of calls counts: an implementation may learn of the failure in any of them. */
static int first_error(int one, int other) {
    return one != MPI_SUCCESS ? one : other;
}

/* A lock and what is done with it, until the first error. */
static int read_first(int kind, int* value) {
    int code = MPI_Win_lock(kind, 0, 0, window);
    if (code == MPI_SUCCESS) {
        code = MPI_Get(value, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
        code = first_error(code, MPI_Win_unlock(0, window));
    }
    return code;
}

/* The same, repeated: one that unlocks while others wait may have the lock back a few times (osc/sm). */
static int read_first_until_error(int kind, int* value) {
    int code = MPI_SUCCESS;
    for (int i = 0; i < 20 && code == MPI_SUCCESS; ++i) {
        code = read_first(kind, value);
    }
    return code;
}

/* No survivor ends before the others need it no more: the target of a message over osc/pt2pt must call the library. */
static void wait_for_survivors(void) {
    for (int other = 0; other < victim; ++other) {
        if (other != rank) {
            MPI_Sendrecv(NULL, 0, MPI_INT, other, 2, NULL, 0, MPI_INT, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
}

/* The victim holds the lock of rank 0, for which all others wait. */
static void wait_for_lock_of_first(unsigned seconds_before) {
    int value = -1;
    if (rank == victim) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
        MPI_Win_flush(0, window);
        MPI_Barrier(MPI_COMM_WORLD);
        die();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == victim - 1 && seconds_before > 0) {
        sleep(seconds_before);
    }
    check_aborted(read_first(MPI_LOCK_EXCLUSIVE, &value), "a lock that the failed rank holds");
}

static void wait_for_holder(void) {
    int value = -1;
    wait_for_lock_of_first(0);
    if (rank != victim) {
        check_aborted(read_first(MPI_LOCK_SHARED, &value), "another lock that the failed rank holds");
        wait_for_survivors();
    }
}

/* One of those who wait comes when rank 0, whose lock it is, has learned of the failure and left MPI_Finalize. */
static void come_late(void) {
    wait_for_lock_of_first(2);
}

static void progress_for(double seconds) {
    int flag;
    for (const double end = MPI_Wtime() + seconds; MPI_Wtime() < end;) {
        MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
}

/* Rank 0 has its own lock, and the victim waits for it, in front of all others. */
static void wait_behind_waiter(void) {
    int value = -1, pid = (int)getpid();
    MPI_Bcast(&pid, 1, MPI_INT, victim, MPI_COMM_WORLD);
    if (rank == 0) {
        check(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window) == MPI_SUCCESS, "MPI_Win_lock of the own rank");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == victim) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
        MPI_Win_flush(0, window);
        check(0, "the lock of rank 0 was granted");
        return;
    }
    if (rank == 0) {
        progress_for(4);
        kill(pid, SIGKILL);
        for (int other = 1; other < victim; ++other) {
            MPI_Recv(&value, 1, MPI_INT, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        check(MPI_Win_unlock(0, window) == MPI_SUCCESS, "MPI_Win_unlock of the own rank");
    } else {
        sleep(2); /* the victim is in the line by then */
        check_aborted(
            read_first(rank % 2 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, &value), "behind one that has failed");
        MPI_Send(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    }
    check_aborted(read_first_until_error(MPI_LOCK_EXCLUSIVE, &value), "a lock for which the failed rank waited");
    wait_for_survivors();
}

/* The victim shares the lock of rank 0: those who share it, too, go on. */
static void share_with_reader(void) {
    int value = -1;
    if (rank == victim) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
        MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
        MPI_Win_flush(0, window);
        MPI_Barrier(MPI_COMM_WORLD);
        die();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 3; ++i) {
        check(read_first(MPI_LOCK_SHARED, &value) == MPI_SUCCESS, "a lock that the failed rank shares");
        check(value == 0, "the value of rank 0");
    }
    wait_for_survivors();
    check_aborted(read_first(MPI_LOCK_EXCLUSIVE, &value), "an exclusive lock, where the failed rank has a shared one");
    wait_for_survivors();
}

/* The victim has the lock of rank 0, and the others want those of all. They have none then. */
static void lock_all_members(void) {
    int value = -1;
    const int next = (rank + 1) % victim == 0 ? 1 : (rank + 1) % victim;
    if (rank == victim) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
        MPI_Win_flush(0, window);
        MPI_Barrier(MPI_COMM_WORLD);
        die();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    int code = MPI_Win_lock_all(0, window);
    if (code == MPI_SUCCESS) {
        check(MPI_Put(&rank, 1, MPI_INT, next, 3, 1, MPI_INT, window) == MPI_SUCCESS, "MPI_Put to another rank");
        code = MPI_Fetch_and_op(&rank, &value, MPI_INT, 0, 2, MPI_SUM, window);
        code = first_error(code, MPI_Win_flush(0, window));
        check_aborted(code, "an operation on memory that the failed rank has locked");
        check_aborted(MPI_Win_unlock_all(window), "MPI_Win_unlock_all");
    }
    check_aborted(code, "the locks of all members");
    wait_for_survivors();
    check(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, window) == MPI_SUCCESS, "MPI_Win_lock of another rank");
    check(MPI_Get(&value, 1, MPI_INT, next, 0, 1, MPI_INT, window) == MPI_SUCCESS, "MPI_Get from another rank");
    check(MPI_Win_unlock(next, window) == MPI_SUCCESS, "MPI_Win_unlock of another rank");
    check(value == next, "the value of another rank");
    wait_for_survivors();
}

/* The victim's own memory is locked. */
static void wait_for_target(void) {
    int value = -1;
    if (rank == victim) {
        MPI_Barrier(MPI_COMM_WORLD);
        die();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    /* The memory of a failed process may outlive it. So some rounds may be successful until its failure is known. */
    int code = MPI_SUCCESS;
    for (const double end = MPI_Wtime() + 20; code == MPI_SUCCESS && MPI_Wtime() < end;) {
        code = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, victim, 0, window);
        if (code == MPI_SUCCESS) {
            code = MPI_Get(&value, 1, MPI_INT, victim, 0, 1, MPI_INT, window);
            code = first_error(code, MPI_Win_unlock(victim, window));
        }
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    check_aborted(code, "a lock of the failed rank");
}

static void wait_in_fence(void) {
    int value = -1;
    MPI_Win_fence(0, window);
    if (rank == victim) {
        die();
    }
    MPI_Get(&value, 1, MPI_INT, (rank + 1) % victim, 0, 1, MPI_INT, window);
    check_aborted(MPI_Win_fence(MPI_MODE_NOSUCCEED, window), "a fence without the failed rank");
}

static MPI_Group group_of(int member) {
    MPI_Group all, one;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &member, &one);
    MPI_Group_free(&all);
    return one;
}

/* The victim has not posted. */
static void wait_for_post(void) {
    MPI_Group group = group_of(victim);
    int value = -1;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == victim) {
        die();
    }
    int code = MPI_Win_start(group, 0, window);
    if (code == MPI_SUCCESS) {
        code = MPI_Put(&rank, 1, MPI_INT, victim, 1, 1, MPI_INT, window);
        code = first_error(code, MPI_Win_complete(window));
    }
    check_aborted(code, "an access epoch to the failed rank");
    MPI_Group_free(&group);
    (void)value;
}

/* The victim has started, but does not complete. */
static void wait_for_complete(void) {
    MPI_Group group = group_of(rank == victim ? 0 : victim);
    if (rank == victim) {
        MPI_Win_start(group, 0, window);
        MPI_Put(&rank, 1, MPI_INT, 0, 1, 1, MPI_INT, window);
        MPI_Barrier(MPI_COMM_WORLD);
        die();
    }
    check(MPI_Win_post(group, 0, window) == MPI_SUCCESS, "MPI_Win_post");
    MPI_Barrier(MPI_COMM_WORLD);
    check_aborted(MPI_Win_wait(window), "an exposure epoch to the failed rank");
    MPI_Group_free(&group);
}

/* Operations of a lock_all epoch: those to the others go on. */
static void operate(void) {
    int value = -1, code = MPI_SUCCESS;
    const int next = (rank + 1) % victim;
    MPI_Barrier(MPI_COMM_WORLD);
    check(MPI_Win_lock_all(0, window) == MPI_SUCCESS, "MPI_Win_lock_all");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == victim) {
        die();
    }
    for (const double end = MPI_Wtime() + 20; code == MPI_SUCCESS && MPI_Wtime() < end;) {
        code = MPI_Fetch_and_op(&rank, &value, MPI_INT, victim, 2, MPI_SUM, window);
        code = first_error(code, MPI_Win_flush(victim, window));
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    check_aborted(code, "operations on the failed rank");
    check(MPI_Get(&value, 1, MPI_INT, next, 0, 1, MPI_INT, window) == MPI_SUCCESS, "MPI_Get from another rank");
    check(MPI_Win_flush(next, window) == MPI_SUCCESS, "MPI_Win_flush of another rank");
    check(value == next, "the value of another rank");
    MPI_Win_unlock_all(window);
    wait_for_survivors();
}

static void free_window(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == victim) {
        die();
    }
    check_aborted(MPI_Win_free(&window), "MPI_Win_free without the failed rank");
}

int main(int argc, char** argv) {
    static const struct {
        const char* name;
        void (*run)(void);
    } subjects[] = {{"holder", wait_for_holder}, {"late", come_late}, {"waiter", wait_behind_waiter},
        {"reader", share_with_reader}, {"all", lock_all_members}, {"target", wait_for_target}, {"fence", wait_in_fence},
        {"post", wait_for_post}, {"complete", wait_for_complete}, {"operations", operate}, {"free", free_window}};
    const char* what = argc > 1 ? argv[1] : "";
    int found = 0;
    created = argc > 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    victim = size - 1;
    make_window();
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; ++i) {
        if (strcmp(subjects[i].name, what) == 0) {
            subjects[i].run();
            found = 1;
        }
    }
    check(found, "no such subject");
    check(MPI_Finalize() == MPI_SUCCESS, "MPI_Finalize");
    printf("rank %d survived%s\n", rank, failures == 0 ? "" : " with failures");
    return failures != 0;
}
