/* SPDX-License-Identifier: BSD-3-Clause */
/* The members of a communicator from a group say that different components shall name it: nobody waits for ever, and
   nobody reads beyond a message. Arguments: notice (what is done on one node, with cid_excid_source auto) or message
   (as between nodes, because the string tag is long, with bootstrap), and the components of rank 0, 1 and so on. Every
   rank gets an error, but who names by excid without waiting for others may have its communicator: anybody by a notice,
   rank 0 by messages. */
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
    const int by_notice = strcmp(argv[1], "notice") == 0;
    char tag[MPI_MAX_STRINGTAG_LEN] = "disagreement";
    if (!by_notice) {
        memset(tag, 'x', sizeof tag - 1);
        tag[sizeof tag - 1] = '\0';
    }
    const char* component = argv[2 + rank];
    MPI_Info_create(&info);
    MPI_Info_set(info, "patchbay_cid", component);
    const int code = MPI_Comm_create_from_group(group, tag, info, MPI_ERRORS_RETURN, &comm);
    CHECK(code != MPI_SUCCESS || (strcmp(component, "excid") == 0 && (rank == 0 || by_notice)));
    if (code == MPI_SUCCESS) {
        MPI_Comm_free(&comm);
    }
    MPI_Info_free(&info);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    return failures();
}
