/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 makes an error on a session with MPI_ERRORS_ABORT. The other ranks say after some time that they are still
 * there. */
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
    MPI_Session session;
    MPI_Group world;
    int rank;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ABORT, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
    MPI_Group_rank(world, &rank);
    if (rank == 0) {
        char name[8];
        int room = sizeof name;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 1 << 30, &room, name);
        printf("rank 0 goes on\n");
    }
    sleep(1);
    printf("rank %d is there\n", rank);
    MPI_Group_free(&world);
    MPI_Session_finalize(&session);
    return 0;
}
