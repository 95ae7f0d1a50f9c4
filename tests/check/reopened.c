/* SPDX-License-Identifier: BSD-3-Clause */
/* A process closes its last session while another one has begun to construct a communicator with it: the library takes
   the message of that constructor with it into the next session, and does not check it, as it is none of the program.
 */
#include "tests/mpi_check/check.h"

#include <unistd.h>

static MPI_Session session;
static MPI_Group world;
static int rank;

static void open_session(void) {
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
    MPI_Group_rank(world, &rank);
}

static void close_session(void) {
    CHECK_OK(MPI_Group_free(&world));
    CHECK_OK(MPI_Session_finalize(&session));
}

int main(void) {
    open_session();
    if (rank != 0) {
        usleep(300000); /* so that the message of rank 0 has arrived */
        close_session();
        open_session();
    }
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_create_from_group(world, "reopened", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Barrier(comm));
    CHECK_OK(MPI_Comm_free(&comm));
    close_session();
    return failures();
}
