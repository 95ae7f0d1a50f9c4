/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 1 fails before it posts, or completes. Survivors that wait for it and for each other get MPI_ERR_PROC_ABORTED,
 * from MPI_Win_start as from MPI_Win_wait and MPI_Win_test; and what one does later for an epoch that has ended so is
 * not taken for the next one. */
#define _GNU_SOURCE
#include "tests/mpi_check/survivors.h"

#include <signal.h>
#include <unistd.h>

static int rank;

static MPI_Win window(int** memory) {
    MPI_Win win;
    MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, memory, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    (*memory)[0] = (*memory)[1] = 0;
    return win;
}

static int test_until_end(MPI_Win win) {
    const double begin = MPI_Wtime();
    int code = MPI_SUCCESS, done = 0;
    while (code == MPI_SUCCESS && !done && MPI_Wtime() - begin < 10) {
        code = MPI_Win_test(win, &done);
    }
    return code;
}

static void put(MPI_Group target, int place, int value, MPI_Win win) {
    CHECK_OK(MPI_Win_start(target, 0, win));
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, 0, place, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_complete(win));
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int *memory, *unused;
    MPI_Win waited = window(&unused), tested = window(&unused), again = window(&memory);
    const int zero = 0, one_and_two[] = {1, 2}, all_ranks[] = {0, 1, 2};
    MPI_Group all = group_of(3, all_ranks), origins = group_of(2, one_and_two), survivor = group_of(1, &one_and_two[1]);
    MPI_Group target = group_of(1, &zero), targets = group_of(2, all_ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        raise(SIGKILL);
    }
    CHECK_OK(MPI_Win_post(all, 0, waited));
    CHECK_CLASS(MPI_Win_start(all, 0, waited), MPI_ERR_PROC_ABORTED);
    CHECK_CLASS(MPI_Win_wait(waited), MPI_ERR_PROC_ABORTED);
    CHECK_OK(MPI_Win_post(all, 0, tested));
    CHECK_CLASS(MPI_Win_start(all, 0, tested), MPI_ERR_PROC_ABORTED);
    CHECK_CLASS(test_until_end(tested), MPI_ERR_PROC_ABORTED);

    if (rank == 0) {
        CHECK_OK(MPI_Win_post(origins, 0, again));
        CHECK_CLASS(MPI_Win_wait(again), MPI_ERR_PROC_ABORTED);
        CHECK_OK(MPI_Win_post(survivor, 0, again));
        CHECK_OK(MPI_Win_wait(again));
        CHECK_EQUAL(memory[1], 5);
        /* The start of rank 2 fails, and its end comes nevertheless. */
        CHECK_OK(MPI_Win_post(survivor, 0, again));
        CHECK_OK(MPI_Win_wait(again));
    } else {
        put(target, 0, 4, again);
        usleep(200000); /* the second exposure of rank 0 must not have ended meanwhile */
        put(target, 1, 5, again);
        CHECK_CLASS(MPI_Win_start(targets, 0, again), MPI_ERR_PROC_ABORTED);
    }
    MPI_Group_free(&targets);
    MPI_Group_free(&all);
    MPI_Group_free(&origins);
    MPI_Group_free(&survivor);
    MPI_Group_free(&target);
    return finish_survivor();
}
