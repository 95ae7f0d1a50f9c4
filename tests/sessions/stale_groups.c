/* SPDX-License-Identifier: BSD-3-Clause */
/* A group may exist longer than its session. No later session accepts the group, even at the same address in memory.
 * With the argument "world" MPI_Init has been called; without it the library is finalized between the sessions. */
#include "tests/sessions/session_check.h"

static int errors;
static void on_error(MPI_Session* session, int* code, ...) {
    CHECK(*session != MPI_SESSION_NULL && *code != MPI_SUCCESS);
    ++errors;
}

static MPI_Group group_of(MPI_Session session, const char* pset) {
    MPI_Group group = MPI_GROUP_NULL;
    CHECK(MPI_Group_from_session_pset(session, pset, &group) == MPI_SUCCESS);
    return group;
}

static MPI_Group stale_group(void) {
    MPI_Session session = open_session(NULL);
    MPI_Group group = group_of(session, "mpi://SELF");
    CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
    return group;
}

/* Errors of the stale group alone go to MPI_COMM_SELF. */
static void mix_groups(int with_world) {
    MPI_Group old = stale_group(), made = MPI_GROUP_NULL;
    MPI_Errhandler handler;
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Comm comm = MPI_COMM_NULL, child = MPI_COMM_NULL;
    int result;
    MPI_Session_create_errhandler(on_error, &handler);
    CHECK(MPI_Session_init(MPI_INFO_NULL, handler, &session) == MPI_SUCCESS);
    MPI_Errhandler_free(&handler);
    MPI_Group own = group_of(session, "mpi://SELF");
    errors = 0;
    CHECK(class_of(MPI_Group_union(own, old, &made)) == MPI_ERR_SESSION);
    CHECK(class_of(MPI_Group_compare(own, old, &result)) == MPI_ERR_SESSION);
    CHECK(errors == 2);
    CHECK(class_of(MPI_Comm_create_from_group(old, "o", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm)) == MPI_ERR_SESSION);
    CHECK(comm == MPI_COMM_NULL);
    CHECK(MPI_Comm_create_from_group(own, "o", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS);
    CHECK(class_of(MPI_Comm_create(comm, old, &child)) == MPI_ERR_SESSION);
    if (with_world) {
        CHECK(class_of(MPI_Group_union(old, own, &made)) == MPI_ERR_SESSION);
    }
    CHECK(errors == 2);
    MPI_Comm_free(&comm);
    MPI_Group_free(&own);
    MPI_Group_free(&old);
    CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
}

int main(int argc, char** argv) {
    const int with_world = argc > 1;
    if (with_world) {
        MPI_Init(&argc, &argv);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    }
    for (int round = 0; round < 5; ++round) {
        mix_groups(with_world);
    }
    MPI_Session beside = open_session(NULL);
    for (int round = 0; round < 5; ++round) {
        mix_groups(with_world);
    }
    CHECK(MPI_Session_finalize(&beside) == MPI_SUCCESS);
    if (with_world) {
        MPI_Finalize();
    }
    return failures();
}
