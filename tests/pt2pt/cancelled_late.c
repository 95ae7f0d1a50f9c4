/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Cancel of a send whose message has been received on a communicator that the receiver has freed since: it takes no
 * message of another process from a later communicator. MPI_Cancel of a send when the receiver has finalized: it ends,
 * on a communicator that both have freed, and on one that the sender has not freed. MPI_Cancel of sends that the
 * receiver has not received before it freed the communicator: it succeeds. */
#define _DEFAULT_SOURCE
#include "tests/mpi_check/check.h"

#include <unistd.h>

enum { before = 200, after = 500 };

static int rank;

static int cancel(MPI_Request* request) {
    MPI_Status status;
    int is_cancelled = -1;
    CHECK_OK(MPI_Cancel(request));
    CHECK_OK(MPI_Wait(request, &status));
    MPI_Test_cancelled(&status, &is_cancelled);
    return is_cancelled;
}

/* The requests of messages to rank 1 on `comm`, of which the last one is kept. */
static MPI_Request send_many(MPI_Comm comm) {
    static int values[before];
    MPI_Request requests[before];
    for (int i = 0; i < before; ++i) {
        MPI_Isend(&values[i], 1, MPI_INT, 1, 0, comm, &requests[i]);
    }
    MPI_Waitall(before - 1, requests, MPI_STATUSES_IGNORE);
    return requests[before - 1];
}

static void receive_many(MPI_Comm comm) {
    for (int i = 0; i < before; ++i) {
        int value;
        MPI_Recv(&value, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
    }
}

/* In `later` rank 2 of the world is rank 0. */
static void test_later_communicator(void) {
    static int values[after];
    MPI_Request kept = MPI_REQUEST_NULL, requests[after];
    MPI_Comm comm, later;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (rank == 0) {
        kept = send_many(comm);
    } else if (rank == 1) {
        receive_many(comm);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0) {
        MPI_Comm_free(&comm);
    }
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank == 2 ? 0 : rank == 1 ? 1 : 2, &later);
    if (rank == 2) {
        for (int i = 0; i < after; ++i) {
            MPI_Isend(&values[i], 1, MPI_INT, 1, i, later, &requests[i]);
        }
        MPI_Waitall(after, requests, MPI_STATUSES_IGNORE);
        MPI_Send(NULL, 0, MPI_INT, 1, after, later);
    } else if (rank == 1) {
        MPI_Recv(NULL, 0, MPI_INT, 0, after, later, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        CHECK_EQUAL(cancel(&kept), 0);
        MPI_Comm_free(&comm);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < after && rank == 1; ++i) {
        int found = 0, value;
        MPI_Iprobe(0, i, later, &found, MPI_STATUS_IGNORE);
        CHECK(found);
        if (found) {
            MPI_Recv(&value, 1, MPI_INT, 0, i, later, MPI_STATUS_IGNORE);
        }
    }
    MPI_Comm_free(&later);
}

static void test_finalized_receiver(int is_freed) {
    MPI_Session session;
    MPI_Group world;
    MPI_Comm comm;
    MPI_Request kept = MPI_REQUEST_NULL;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
    MPI_Comm_create_from_group(world, "finalized", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    if (rank == 0) {
        kept = send_many(comm);
        MPI_Recv(NULL, 0, MPI_INT, 1, 1, comm, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        receive_many(comm);
        MPI_Send(NULL, 0, MPI_INT, 0, 1, comm);
    }
    MPI_Group_free(&world);
    if (rank != 0 || is_freed) {
        MPI_Comm_free(&comm);
    }
    if (rank == 0) {
        usleep(200000);
        CHECK_EQUAL(cancel(&kept), 0); /* the others end without a call of the library */
    }
    if (comm != MPI_COMM_NULL) {
        MPI_Comm_free(&comm);
    }
    MPI_Session_finalize(&session);
    if (rank == 1) {
        usleep(1500000); /* its process exists longer than its library */
    }
}

/* Then nothing answers the message. */
static void test_freed_without_a_receive(void) {
    static char message[1 << 20];
    MPI_Request requests[2];
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (rank == 0) {
        MPI_Isend(message, sizeof message, MPI_CHAR, 1, 0, comm, &requests[0]);
        MPI_Issend(message, 1, MPI_CHAR, 1, 0, comm, &requests[1]);
        MPI_Send(NULL, 0, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(NULL, 0, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* the others have arrived */
    }
    MPI_Comm_free(&comm);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2 && rank == 0; ++i) {
        CHECK_EQUAL(cancel(&requests[i]), 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    test_later_communicator();
    test_freed_without_a_receive();
    MPI_Finalize();
    test_finalized_receiver(1);
    test_finalized_receiver(0);
    return failures();
}
