/* SPDX-License-Identifier: BSD-3-Clause */
/* A large message arrives for a communicator that its receiver has not constructed yet, and is cancelled; the receiver
 * ends its session, and constructs the communicator in the next one. */
#include "tests/mpi_check/check.h"

#include <stdlib.h>

enum { bytes = 64 << 20 };

static MPI_Comm make(MPI_Session session, const char* tag) {
    MPI_Group world;
    MPI_Comm comm;
    MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
    MPI_Comm_create_from_group(world, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&world);
    return comm;
}

static void send_and_cancel(MPI_Comm comm) {
    char* message = calloc(1, bytes);
    MPI_Request request;
    MPI_Status status;
    int is_cancelled = 0;
    MPI_Isend(message, bytes, MPI_CHAR, 1, 5, comm, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &is_cancelled);
    CHECK(is_cancelled);
    free(message);
}

int main(int argc, char** argv) {
    MPI_Session session;
    int rank, value = 41;
    (void)argc, (void)argv;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Comm first = make(session, "first"), second;
    MPI_Comm_rank(first, &rank);
    MPI_Barrier(first);
    if (rank == 0) {
        second = make(session, "second");
        send_and_cancel(second);
        MPI_Send(NULL, 0, MPI_CHAR, 1, 9, first);
        MPI_Comm_free(&first);
        MPI_Send(&value, 1, MPI_INT, 1, 8, second);
    } else {
        MPI_Recv(NULL, 0, MPI_CHAR, 0, 9, first, MPI_STATUS_IGNORE);
        MPI_Comm_free(&first);
        MPI_Session_finalize(&session);
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
        second = make(session, "second");
        int got = 0;
        MPI_Recv(&got, 1, MPI_INT, 0, MPI_ANY_TAG, second, MPI_STATUS_IGNORE);
        CHECK_EQUAL(got, value);
    }
    MPI_Comm_free(&second);
    MPI_Session_finalize(&session);
    return failures();
}
