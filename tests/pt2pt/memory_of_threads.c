/* SPDX-License-Identifier: BSD-3-Clause */
/* With MPI_THREAD_MULTIPLE requests are used again: messages do not take memory for ever. */
#include "tests/mpi_check/check.h"

#include <malloc.h>

enum { warm_up = 200, messages = 5000 };

static size_t allocated(void) {
    return mallinfo2().uordblks;
}

static void exchange(int rank, int size) {
    int received = -1;
    MPI_Request request;
    CHECK_OK(MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Recv(&received, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQUAL(received, (rank + size - 1) % size);
}

int main(int argc, char** argv) {
    int provided, rank, size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK_EQUAL(provided, MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < warm_up; ++i) {
        exchange(rank, size);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const size_t before = allocated();
    for (int i = 0; i < messages; ++i) {
        exchange(rank, size);
    }
    /* 16 bytes for each message would be a leak. */
    CHECK(allocated() < before + 16 * messages);
    return finish();
}
