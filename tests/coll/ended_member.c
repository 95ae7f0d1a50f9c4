/* SPDX-License-Identifier: BSD-3-Clause */
/* A process has contributed to a reduction, freed the communicator, finalized its session and ended, while the root
 * waits for another process: that is no failure. Argument: "persistent". */
#define _DEFAULT_SOURCE
#include "tests/mpi_check/check.h"

#include <unistd.h>

enum { calls_before = 40 }; /* so that all components are in use */

int main(int argc, char** argv) {
    MPI_Session session;
    MPI_Group world;
    MPI_Comm comm;
    MPI_Request request;
    int rank, size, one = 1, sum = -1;
    (void)argv;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
    MPI_Comm_create_from_group(world, "ended", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Group_free(&world);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < calls_before; ++i) {
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    }
    if (argc > 1) {
        CHECK_OK(MPI_Reduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, 0, comm, MPI_INFO_NULL, &request));
    }
    MPI_Barrier(comm);
    if (rank == size - 1) {
        sleep(1);
    }
    if (argc > 1) {
        CHECK_OK(MPI_Start(&request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        MPI_Request_free(&request);
    } else {
        CHECK_OK(MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, comm));
    }
    CHECK(rank != 0 || sum == size);
    MPI_Comm_free(&comm);
    CHECK_OK(MPI_Session_finalize(&session));
    return failures();
}
