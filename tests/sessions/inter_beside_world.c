/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Finalize does not wait for messages of a session, also not for those within the local group of one of its
 * intercommunicators: here rank 2 takes part in the broadcast only after MPI_Finalize, for which it needs rank 1. */
#include "tests/sessions/session_check.h"

#include <stdlib.h>
#include <string.h>

enum { LENGTH = 1000000 };

int main(int argc, char** argv) {
    int rank, flag;
    int first[1][3] = {{0, 0, 1}}, others[1][3] = {{1, 2, 1}};
    MPI_Session session;
    MPI_Group world, local, remote;
    MPI_Comm inter;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
    MPI_Group_range_incl(world, 1, rank == 0 ? first : others, &local);
    MPI_Group_range_incl(world, 1, rank == 0 ? others : first, &remote);
    MPI_Intercomm_create_from_groups(local, 0, remote, 0, "t", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &inter);

    char* buffer = malloc(LENGTH);
    memset(buffer, rank == 0 ? 7 : 0, LENGTH);
    const int root = rank == 0 ? MPI_ROOT : 0;
    if (rank == 2) {
        MPI_Finalize();
    }
    MPI_Ibcast(buffer, LENGTH, MPI_CHAR, root, inter, &request);
    while (rank == 1 && buffer[LENGTH - 1] != 7) { /* then it sends to rank 2 */
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    if (rank != 2) {
        MPI_Finalize();
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQUAL(buffer[0], 7);
    CHECK_EQUAL(buffer[LENGTH - 1], 7);
    free(buffer);
    MPI_Comm_free(&inter);
    MPI_Group_free(&remote);
    MPI_Group_free(&local);
    MPI_Group_free(&world);
    MPI_Session_finalize(&session);
    return failures();
}
