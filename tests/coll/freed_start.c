/* SPDX-License-Identifier: BSD-3-Clause */
/* A persistent collective whose request is freed while it is active, shortly before the library ends: in MPI_Finalize,
 * and in sessions, after which others follow. */
#define _DEFAULT_SOURCE
#include "tests/mpi_check/check.h"

#include <unistd.h>

static int one = 1, sum;

static void start_and_free(MPI_Comm comm, int late) {
    MPI_Request request;
    int rank;
    MPI_Comm_rank(comm, &rank);
    CHECK_OK(MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request));
    MPI_Barrier(comm);
    if (rank == late) {
        usleep(50000);
    }
    CHECK_OK(MPI_Start(&request));
    CHECK_OK(MPI_Request_free(&request));
}

int main(int argc, char** argv) {
    int size;
    for (int cycle = 0; cycle < 3; ++cycle) {
        MPI_Session session;
        MPI_Group world;
        MPI_Comm comm;
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
        MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
        MPI_Comm_create_from_group(world, "cycle", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
        MPI_Comm_size(comm, &size);
        start_and_free(comm, cycle % size);
        MPI_Group_free(&world);
        MPI_Comm_free(&comm);
        CHECK_OK(MPI_Session_finalize(&session));
    }
    MPI_Init(&argc, &argv);
    start_and_free(MPI_COMM_WORLD, size - 1);
    return finish();
}
