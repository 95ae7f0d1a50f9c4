/* SPDX-License-Identifier: BSD-3-Clause */
/* A deletion callback makes MPI_Session_finalize fail: the session stays open, and all its objects still work. */
#include "tests/sessions/session_check.h"

static int refuse;

static int on_delete(MPI_Comm comm, int keyval, void* value, void* extra) {
    (void)comm;
    (void)keyval;
    (void)value;
    (void)extra;
    return refuse ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static MPI_Comm from_group(MPI_Group group, const char* tag) {
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS);
    return comm;
}

static MPI_Comm duplicate_at_leisure(MPI_Comm comm) {
    MPI_Comm dup = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK(MPI_Comm_idup(comm, &dup, &request) == MPI_SUCCESS);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    return dup;
}

static void use(MPI_Comm comm) {
    int one = 1, sum = 0, size = 0;
    MPI_Comm_size(comm, &size);
    CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS && sum == size);
}

int main(void) {
    MPI_Session session = open_session(NULL);
    MPI_Group group = MPI_GROUP_NULL;
    int keyval = MPI_KEYVAL_INVALID;
    CHECK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group) == MPI_SUCCESS);
    MPI_Comm comm = from_group(group, "first"), dup = duplicate_at_leisure(comm);
    use(dup);
    MPI_Comm_free(&dup);
    CHECK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keyval, NULL) == MPI_SUCCESS);
    CHECK(MPI_Comm_set_attr(comm, keyval, NULL) == MPI_SUCCESS);
    for (int round = 0; round < 3; ++round) {
        refuse = 1;
        CHECK(MPI_Session_finalize(&session) == MPI_ERR_OTHER && session != MPI_SESSION_NULL);
        refuse = 0;
        use(comm);
        dup = duplicate_at_leisure(comm);
        use(dup);
        MPI_Comm again = duplicate_at_leisure(dup), another = from_group(group, "later");
        use(again);
        use(another);
        MPI_Comm_free(&dup);
        MPI_Comm_free(&again);
        MPI_Comm_free(&another);
    }
    MPI_Comm_free_keyval(&keyval);
    MPI_Group_free(&group);
    CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS && session == MPI_SESSION_NULL);
    return failures();
}
