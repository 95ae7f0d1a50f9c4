/* SPDX-License-Identifier: BSD-3-Clause */
/* Users of the library (sessions, the world model) in the combination that the argument names. explain_test.py checks
 * the table of mpirun --explain. */
#include "tests/sessions/session_check.h"

#include <pthread.h>

static void communicate(MPI_Session session) {
    MPI_Group group;
    MPI_Comm comm;
    CHECK(MPI_Group_from_session_pset(session, "mpi://SELF", &group) == MPI_SUCCESS);
    CHECK(MPI_Comm_create_from_group(group, "locks", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
}

static void* communicate_here(void* session) {
    communicate(*(MPI_Session*)session);
    return NULL;
}

static void* finalize_here(void* session) {
    CHECK(MPI_Session_finalize(session) == MPI_SUCCESS);
    return NULL;
}

static void in_thread(void* (*act)(void*), MPI_Session* session) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, act, session) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

static int create_from_group(const char* tag) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
    CHECK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group) == MPI_SUCCESS);
    CHECK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
    return failures();
}

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "";
    int provided = -1;
    if (strcmp(what, "from_group") == 0) {
        return create_from_group("explained");
    }
    if (strcmp(what, "world_multiple") == 0) {
        MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
        MPI_Finalize();
        return failures();
    }
    MPI_Init(NULL, NULL);
    const char* level = strcmp(what, "session_multiple") == 0 ? "MPI_THREAD_MULTIPLE" : NULL;
    MPI_Session session = open_session(level);
    if (strcmp(what, "other_thread") == 0) {
        in_thread(communicate_here, &session);
    } else {
        communicate(session);
    }
    if (strcmp(what, "closed_elsewhere") == 0) {
        in_thread(finalize_here, &session);
    } else {
        MPI_Session_finalize(&session);
    }
    MPI_Finalize();
    return failures();
}
