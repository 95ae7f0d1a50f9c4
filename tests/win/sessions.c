/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows of communicators of sessions: their lifetime belongs to the session, also that of a window that the program
 * has not freed. */
#include "tests/mpi_check/check.h"

static MPI_Comm make_comm(MPI_Session session) {
    MPI_Group group;
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "windows", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    MPI_Group_free(&group);
    return comm;
}

static void use(MPI_Comm comm, int leave) {
    int rank, size, *base = NULL;
    MPI_Win win;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    CHECK_OK(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &base, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Win_flush(0, win), MPI_ERR_RMA_SYNC);
    *base = -1;
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_EQUAL(*base, (rank + size - 1) % size);
    if (!leave) {
        CHECK_OK(MPI_Win_free(&win));
    }
}

int main(void) {
    for (int round = 0; round < 4; ++round) {
        MPI_Session session;
        CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
        MPI_Comm comm = make_comm(session);
        use(comm, 0);
        use(comm, round % 2);
        MPI_Barrier(comm); /* no member uses the window that is left */
        if (round < 2) {
            CHECK_OK(MPI_Comm_free(&comm));
        }
        CHECK_OK(MPI_Session_finalize(&session));
    }
    return failures();
}
