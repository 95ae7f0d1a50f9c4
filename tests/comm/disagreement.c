/* SPDX-License-Identifier: BSD-3-Clause */
/* The members of a communicator from a group say that different components shall name it: nobody waits for ever, and
   nobody reads beyond a message. Arguments: the components of rank 0, 1 and so on. Every rank gets an error, but rank 0
   may have its communicator: with excid it waits for nobody. */
#include "tests/mpi_check/check.h"

#include <string.h>

int main(int argc, char** argv) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Info info;
    int rank = -1, size = 0;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Group_rank(group, &rank);
    MPI_Group_size(group, &size);
    CHECK(argc == size + 1);
    MPI_Info_create(&info);
    MPI_Info_set(info, "patchbay_cid", argv[1 + rank]);
    const int code = MPI_Comm_create_from_group(group, "disagreement", info, MPI_ERRORS_RETURN, &comm);
    CHECK(code != MPI_SUCCESS || (rank == 0 && strcmp(argv[1], "excid") == 0));
    if (code == MPI_SUCCESS) {
        MPI_Comm_free(&comm);
    }
    MPI_Info_free(&info);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    return failures();
}
