/* SPDX-License-Identifier: BSD-3-Clause */
/* A call that tests and finds nothing gives up the core where local ranks share cores, and only there: argument 1 or 0.
 * The sched_yield of this program takes the place of the C library's, and counts. */
#define _GNU_SOURCE
#include "tests/mpi_check/check.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int yields;

__attribute__((visibility("default"))) int sched_yield(void) {
    ++yields;
    return (int)syscall(SYS_sched_yield);
}

enum { calls = 20 };
static int expected; /* of each call */

#define CHECK_YIELDS(call, found)                                                                                      \
    do {                                                                                                               \
        yields = 0;                                                                                                    \
        for (int i = 0; i < calls; ++i) {                                                                              \
            CHECK_OK(call);                                                                                            \
            CHECK_TEXT(!(found), #call " finds nothing");                                                              \
        }                                                                                                              \
        if (expected == 0) {                                                                                           \
            CHECK_EQUAL(yields, 0);                                                                                    \
        } else {                                                                                                       \
            /* A poll that handles something else, such as a packet of another call, does not yield. */                \
            CHECK_TEXT(yields >= calls / 2, #call " yields");                                                          \
        }                                                                                                              \
    } while (0)

static void test_requests(MPI_Request request) {
    int flag = 0, index = 0, count = 0, indices[1];
    CHECK_YIELDS(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), flag);
    CHECK_YIELDS(MPI_Testall(1, &request, &flag, MPI_STATUSES_IGNORE), flag);
    CHECK_YIELDS(MPI_Testany(1, &request, &index, &flag, MPI_STATUS_IGNORE), flag);
    CHECK_YIELDS(MPI_Testsome(1, &request, &count, indices, MPI_STATUSES_IGNORE), count);
    CHECK_YIELDS(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE), flag);
}

static void test_probes(MPI_Comm comm) {
    int flag = 0;
    MPI_Message message;
    CHECK_YIELDS(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE), flag);
    CHECK_YIELDS(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &message, MPI_STATUS_IGNORE), flag);
}

int main(int argc, char** argv) {
    int rank, size, value = 0;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    expected = argc > 1 ? atoi(argv[1]) : 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &request));
    test_requests(request);
    test_probes(MPI_COMM_WORLD);
    /* No rank sends before all have tested. */
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Send(&size, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQUAL(value, size);
    return finish();
}
