/* SPDX-License-Identifier: BSD-3-Clause */
/* The members of a communicator from a group say that different components shall name it: the job ends, and nobody
   reads beyond a message. Argument: the component of rank 0. */
#include "tests/mpi_check/check.h"

#include <string.h>

int main(int argc, char** argv) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Info info;
    int rank = -1;
    const char *first = argc > 1 ? argv[1] : "mask", *other = strcmp(first, "mask") == 0 ? "excid" : "mask";
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Group_rank(group, &rank);
    MPI_Info_create(&info);
    MPI_Info_set(info, "patchbay_cid", rank == 0 ? first : other);
    MPI_Comm_create_from_group(group, "disagreement", info, MPI_ERRORS_ARE_FATAL, &comm);
    return 0; /* not reached */
}
