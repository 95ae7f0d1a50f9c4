/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_create_from_group with a member that fails before it sends anything to the others: no other member hangs, in
   any number of calls, and those that have a communicator before the member fails get the error when they use it.
   Arguments: "first" or "last" (the member that fails), and "long" for a string tag that is too long for the node
   store. */
#include "tests/mpi_check/check.h"

#include <string.h>

enum { rounds = 100 };

int main(int argc, char** argv) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Info info;
    int rank = -1, size = 0;
    char tag[MPI_MAX_STRINGTAG_LEN] = "failed";
    if (argc > 2) {
        memset(tag, 'x', sizeof tag - 1);
        tag[sizeof tag - 1] = '\0';
    }
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Group_rank(group, &rank);
    MPI_Group_size(group, &size);
    const int failed = argc > 1 && strcmp(argv[1], "first") == 0 ? 0 : size - 1;
    MPI_Info_create(&info);
    MPI_Info_set(info, "patchbay_cid", "no_such_component");
    for (int round = 0; round < rounds; round++) {
        const int code =
            MPI_Comm_create_from_group(group, tag, rank == failed ? info : MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
        CHECK(code != MPI_SUCCESS || rank != failed);
        if (code == MPI_SUCCESS) {
            CHECK(MPI_Barrier(comm) != MPI_SUCCESS);
            MPI_Comm_free(&comm);
        }
    }
    CHECK(MPI_Comm_create_from_group(group, "good", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS);
    CHECK(MPI_Barrier(comm) == MPI_SUCCESS);
    MPI_Comm_free(&comm);
    MPI_Info_free(&info);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    return failures();
}
