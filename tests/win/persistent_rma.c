/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent one-sided operations (mpix.h): started many times, in every kind of epoch, and after MPI_Win_free. */
#include "tests/mpi_check/check.h"

#include <mpix.h>

static int rank, size, next;
static int memory[8], source, fetched, one = 1;
static MPI_Win win;

static void test_rounds(void) {
    MPI_Request requests[3];
    CHECK_OK(MPIX_Put_init(&source, 1, MPI_INT, next, 0, 1, MPI_INT, win, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPIX_Accumulate_init(&one, 1, MPI_INT, next, 1, 1, MPI_INT, MPI_SUM, win, MPI_INFO_NULL, &requests[1]));
    CHECK_OK(MPIX_Get_init(&fetched, 1, MPI_INT, next, 2, 1, MPI_INT, win, MPI_INFO_NULL, &requests[2]));
    memory[2] = 500 + rank;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < 50; ++round) {
        source = 100 * round + rank;
        fetched = -1;
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win));
        CHECK_OK(MPI_Startall(3, requests));
        CHECK_OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
        CHECK_EQUAL(fetched, 500 + next);
        CHECK_OK(MPI_Win_unlock(next, win));
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
        CHECK_EQUAL(memory[0], 100 * round + (rank + size - 1) % size);
        CHECK_EQUAL(memory[1], round + 1);
        CHECK_OK(MPI_Win_unlock(rank, win));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < 3; ++i) {
        CHECK_OK(MPI_Request_free(&requests[i]));
    }
}

static void test_fence(void) {
    MPI_Request request;
    CHECK_OK(MPIX_Put_init(&source, 1, MPI_INT, next, 3, 1, MPI_INT, win, MPI_INFO_NULL, &request));
    source = 77;
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Start(&request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    CHECK_EQUAL(memory[3], 77);
    CHECK_OK(MPI_Request_free(&request));
}

static void test_errors(void) {
    MPI_Request request = MPI_REQUEST_NULL, nowhere;
    CHECK_CLASS(MPIX_Put_init(&source, 1, MPI_INT, size, 0, 1, MPI_INT, win, MPI_INFO_NULL, &request), MPI_ERR_RANK);
    CHECK_CLASS(
        MPIX_Put_init(&source, 1, MPI_INT, next, 8, 1, MPI_INT, win, MPI_INFO_NULL, &request), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPIX_Accumulate_init(&one, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_NO_OP, win, MPI_INFO_NULL, &request),
        MPI_ERR_OP);
    CHECK_OK(MPIX_Put_init(&source, 1, MPI_INT, next, 0, 1, MPI_INT, win, MPI_INFO_NULL, &request));
    CHECK_OK(MPIX_Put_init(&source, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, MPI_INFO_NULL, &nowhere));
    CHECK_CLASS(MPI_Start(&request), MPI_ERR_RMA_SYNC); /* no epoch */
    CHECK_OK(MPI_Start(&nowhere));
    CHECK_OK(MPI_Wait(&nowhere, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Request_free(&nowhere));
    CHECK_OK(MPI_Win_free(&win));
    CHECK_CLASS(MPI_Start(&request), MPI_ERR_WIN);
    CHECK_OK(MPI_Request_free(&request));
}

int main(void) {
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    test_rounds();
    test_fence();
    test_errors();
    return finish();
}
