/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_create_from_group whose members name different cid components in `info`: no call hangs, and no process reads
   beyond the end of a bootstrap message. Arguments: "store" (the members use the node store, with cid_excid_source
   auto) or "message" (the string tag is too long for the node store, and the members use bootstrap messages as between
   nodes, with bootstrap), then the components of rank 0, 1 and so on. Every rank gets an error, except that a rank with
   excid may get its communicator when it does not wait for others: any rank with the node store, rank 0 with
   bootstrap messages. */
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
    CHECK(argc == size + 2);
    const int with_store = strcmp(argv[1], "store") == 0;
    char tag[MPI_MAX_STRINGTAG_LEN] = "mismatch";
    if (!with_store) {
        memset(tag, 'x', sizeof tag - 1);
        tag[sizeof tag - 1] = '\0';
    }
    const char* component = argv[2 + rank];
    MPI_Info_create(&info);
    MPI_Info_set(info, "patchbay_cid", component);
    const int code = MPI_Comm_create_from_group(group, tag, info, MPI_ERRORS_RETURN, &comm);
    CHECK(code != MPI_SUCCESS || (strcmp(component, "excid") == 0 && (rank == 0 || with_store)));
    if (code == MPI_SUCCESS) {
        MPI_Comm_free(&comm);
    }
    MPI_Info_free(&info);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    return failures();
}
