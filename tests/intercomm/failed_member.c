/* SPDX-License-Identifier: BSD-3-Clause */
/* A process fails before MPI_Barrier on an intercommunicator: all others get an error, also those of the other group.
 */
#define _DEFAULT_SOURCE
#include "tests/mpi_check/survivors.h"

#include <signal.h>

int main(int argc, char** argv) {
    enum { victim = 1 };
    int rank;
    MPI_Comm local, inter;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &local);
    MPI_Comm_set_errhandler(local, MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 5, &inter));
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Barrier(inter));
    if (rank == victim) {
        usleep(100000);
        raise(SIGKILL);
    }
    CHECK(MPI_Barrier(inter) != MPI_SUCCESS);
    if (failures()) {
        pause(); /* mpirun's --timeout ends the job */
    }
    usleep(500000); /* for those that still wait for a message */
    _exit(0);
}
