/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of a communicator that ends: a message that has been matched is received after MPI_Comm_free, and
   MPI_Comm_disconnect ends after a send that was complete has been cancelled. */
#include "tests/mpi_check/check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { communicators = 40, sends = 100 };
static int rank;

/* New communicators take the memory of the freed one. */
static void use_memory(void) {
    MPI_Comm others[communicators];
    for (int i = 0; i < communicators; i++) {
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &others[i]));
    }
    for (int i = 0; i < communicators; i++) {
        CHECK_OK(MPI_Comm_free(&others[i]));
    }
}

static void matched(int bytes, int nonblocking) {
    char* data = calloc((size_t)bytes, 1);
    MPI_Comm comm;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    if (rank == 0) {
        memset(data, 7, (size_t)bytes);
        CHECK_OK(MPI_Isend(data, bytes, MPI_CHAR, 1, 5, comm, &request));
    } else if (rank == 1) {
        CHECK_OK(MPI_Mprobe(0, 5, comm, &message, &status));
    }
    CHECK_OK(MPI_Comm_free(&comm));
    use_memory();
    if (rank == 1) {
        int count = 0;
        if (nonblocking) {
            CHECK_OK(MPI_Imrecv(data, bytes, MPI_CHAR, &message, &request));
            CHECK_OK(MPI_Wait(&request, &status));
        } else {
            CHECK_OK(MPI_Mrecv(data, bytes, MPI_CHAR, &message, &status));
        }
        MPI_Get_count(&status, MPI_CHAR, &count);
        CHECK(count == bytes && status.MPI_SOURCE == 0 && data[0] == 7 && data[bytes - 1] == 7);
    }
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    use_memory();
    free(data);
}

/* More messages than have room on their way: the last ones wait in the sender, and are complete when they go. */
static void cancelled(void) {
    MPI_Comm comm;
    MPI_Request requests[sends];
    MPI_Status status;
    int value = 1, is_cancelled = 0, complete = 0;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    if (rank == 0) {
        for (int i = 0; i < sends; i++) {
            CHECK_OK(MPI_Isend(&value, 1, MPI_INT, 1, i, comm, &requests[i]));
        }
        while (!complete) {
            CHECK_OK(MPI_Request_get_status(requests[sends - 1], &complete, MPI_STATUS_IGNORE));
        }
        CHECK_OK(MPI_Cancel(&requests[sends - 1]));
        for (int i = 0; i < sends; i++) {
            CHECK_OK(MPI_Wait(&requests[i], &status));
        }
        MPI_Test_cancelled(&status, &is_cancelled);
        CHECK_OK(MPI_Send(&is_cancelled, 1, MPI_INT, 1, sends, comm));
    } else if (rank == 1) {
        usleep(300000); /* takes nothing meanwhile */
        CHECK_OK(MPI_Recv(&is_cancelled, 1, MPI_INT, 0, sends, comm, MPI_STATUS_IGNORE));
        for (int i = 0; i < sends - is_cancelled; i++) {
            CHECK_OK(MPI_Recv(&value, 1, MPI_INT, 0, i, comm, MPI_STATUS_IGNORE));
        }
    }
    CHECK_OK(MPI_Comm_disconnect(&comm));
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
        matched(4, nonblocking);
        matched(1 << 20, nonblocking);
    }
    cancelled();
    MPI_Finalize();
    return failures();
}
