/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Session_finalize is local, so a peer may be ahead: rank 1 has called MPI_Init and sends, while rank 0 still has a
 * session. Rank 0 finalizes this session, and opens and finalizes another one, only after these messages have arrived.
 * With the argument "dup" the messages are on a duplicate of MPI_COMM_WORLD, to which excid gives its exCID without
 * rank 0. */
#include "tests/mpi_check/check.h"
#include "tests/sessions/session_check.h"

enum { count = 100000, messages = 5 };
static int large[count];

static MPI_Comm all_of(MPI_Session session) {
    MPI_Group group;
    MPI_Comm comm;
    CHECK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group) == MPI_SUCCESS);
    CHECK(MPI_Comm_create_from_group(group, "early", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS);
    MPI_Group_free(&group);
    return comm;
}

static MPI_Comm world_or_duplicate(int dup) {
    MPI_Comm comm = MPI_COMM_WORLD;
    if (dup) {
        CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &comm) == MPI_SUCCESS);
    }
    return comm;
}

static void be_ahead(MPI_Comm earlier, int dup) {
    MPI_Request sends[messages];
    MPI_Comm comm;
    int small[messages];
    MPI_Init(NULL, NULL);
    comm = world_or_duplicate(dup);
    for (int i = 0; i < count; ++i) {
        large[i] = 7 * i;
    }
    for (int i = 0; i < messages; ++i) {
        small[i] = 40 + i;
    }
    MPI_Isend(&small[0], 1, MPI_INT, 0, 0, comm, &sends[0]);
    MPI_Issend(&small[1], 1, MPI_INT, 0, 1, comm, &sends[1]);
    MPI_Isend(large, count, MPI_INT, 0, 2, comm, &sends[2]);
    MPI_Isend(&small[3], 1, MPI_INT, 0, 0, comm, &sends[3]);
    MPI_Isend(NULL, 0, MPI_INT, 0, 3, comm, &sends[4]);
    CHECK(MPI_Send(small, 1, MPI_INT, 0, 9, earlier) == MPI_SUCCESS); /* this message arrives after the others */
    CHECK(MPI_Waitall(messages, sends, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    MPI_Comm_free(&earlier);
    if (dup) {
        MPI_Comm_free(&comm);
    }
}

static void follow(MPI_Session* session, MPI_Comm earlier, int dup) {
    MPI_Comm comm;
    int number = 0;
    CHECK(MPI_Recv(&number, 1, MPI_INT, 1, 9, earlier, MPI_STATUS_IGNORE) == MPI_SUCCESS && number == 40);
    MPI_Comm_free(&earlier);
    MPI_Session_finalize(session); /* the last session: the library is finalized */
    *session = open_session(NULL); /* a session between, without communicators */
    MPI_Session_finalize(session);
    MPI_Init(NULL, NULL);
    comm = world_or_duplicate(dup);
    CHECK(MPI_Recv(&number, 1, MPI_INT, 1, 0, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS && number == 40);
    CHECK(MPI_Recv(&number, 1, MPI_INT, 1, 0, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS && number == 43);
    CHECK(MPI_Recv(large, count, MPI_INT, 1, 2, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    for (int i = 0; i < count; ++i) {
        CHECK(large[i] == 7 * i);
    }
    CHECK(MPI_Recv(&number, 1, MPI_INT, 1, 1, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS && number == 41);
    CHECK(MPI_Recv(NULL, 0, MPI_INT, 1, 3, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    if (dup) {
        MPI_Comm_free(&comm);
    }
}

int main(int argc, char** argv) {
    int rank = 0, dup = argc > 1 && strcmp(argv[1], "dup") == 0;
    MPI_Session session = open_session(NULL);
    MPI_Comm earlier = all_of(session);
    MPI_Comm_rank(earlier, &rank);
    if (rank == 0) {
        follow(&session, earlier, dup);
    } else {
        be_ahead(earlier, dup);
        MPI_Session_finalize(&session);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return failures();
}
