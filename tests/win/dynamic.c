/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that programs attach to dynamic windows and detach again. */
#include "tests/mpi_check/check.h"

static int rank, size;
static char memory[300];
static MPI_Win win;

static void test_overlaps(void) {
    CHECK_OK(MPI_Win_attach(win, memory + 100, 100));
    CHECK_CLASS(MPI_Win_attach(win, memory + 100, 100), MPI_ERR_RMA_ATTACH);
    CHECK_CLASS(MPI_Win_attach(win, memory + 50, 51), MPI_ERR_RMA_ATTACH);
    CHECK_CLASS(MPI_Win_attach(win, memory + 199, 10), MPI_ERR_RMA_ATTACH);
    CHECK_CLASS(MPI_Win_attach(win, memory + 120, 1), MPI_ERR_RMA_ATTACH);
    CHECK_CLASS(MPI_Win_attach(win, memory, 300), MPI_ERR_RMA_ATTACH);
    CHECK_OK(MPI_Win_attach(win, memory, 100));
    CHECK_OK(MPI_Win_attach(win, memory + 200, 100));
    CHECK_OK(MPI_Win_attach(win, memory + 150, 0));
    CHECK_CLASS(MPI_Win_detach(win, memory + 10), MPI_ERR_BASE);
    CHECK_OK(MPI_Win_detach(win, memory + 100));
    CHECK_CLASS(MPI_Win_detach(win, memory + 100), MPI_ERR_BASE);
    CHECK_OK(MPI_Win_attach(win, memory + 100, 100));
    CHECK_OK(MPI_Win_detach(win, memory + 150));
    CHECK_OK(MPI_Win_detach(win, memory));
    CHECK_OK(MPI_Win_detach(win, memory + 100));
    CHECK_OK(MPI_Win_detach(win, memory + 200));
}

static void test_arguments(void) {
    MPI_Win other;
    MPI_Aint length;
    int unit;
    void* base;
    CHECK_CLASS(MPI_Win_attach(win, memory, -1), MPI_ERR_SIZE);
    CHECK_CLASS(MPI_Win_attach(win, NULL, 1), MPI_ERR_BASE);
    CHECK_CLASS(MPI_Win_shared_query(win, 0, &length, &unit, &base), MPI_ERR_RMA_FLAVOR);
    CHECK_OK(MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &other));
    CHECK_OK(MPI_Win_set_errhandler(other, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Win_attach(other, memory, 1), MPI_ERR_RMA_FLAVOR);
    CHECK_CLASS(MPI_Win_detach(other, memory), MPI_ERR_RMA_FLAVOR);
    CHECK_OK(MPI_Win_free(&other));
}

static void test_transfer(void) {
    static int places[64];
    MPI_Aint address, addresses[64];
    const int next = (rank + 1) % size;
    int value = rank + 10;
    CHECK_OK(MPI_Win_attach(win, places, sizeof places));
    MPI_Get_address(&places[5], &address);
    MPI_Allgather(&address, 1, MPI_AINT, addresses, 1, MPI_AINT, MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock_all(0, win));
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, next, addresses[next], 1, MPI_INT, win));
    CHECK_OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    CHECK_EQUAL(places[5], (rank + size - 1) % size + 10);
    CHECK_OK(MPI_Win_unlock(rank, win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_detach(win, places));
}

int main(void) {
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    test_overlaps();
    test_arguments();
    test_transfer();
    CHECK_OK(MPI_Win_free(&win));
    return finish();
}
