/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects of a session: communicators, their error handlers, buffers and attributes, and objects that the program has
   not freed before MPI_Session_finalize. */
#include "tests/sessions/session_check.h"

#include <mpix.h>
#include <stdlib.h>

static MPI_Comm comm_of(MPI_Session session, const char* pset, const char* tag) {
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK(MPI_Group_from_session_pset(session, pset, &group) == MPI_SUCCESS && group != MPI_GROUP_NULL);
    CHECK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS);
    MPI_Group_free(&group);
    return comm;
}

static void exchange(MPI_Comm comm) {
    int rank, size, sum = 0, from = -1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    CHECK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS && sum == size * (size - 1) / 2);
    CHECK(MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 5, &from, 1, MPI_INT, (rank + size - 1) % size, 5, comm,
              MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(from == (rank + size - 1) % size);
}

/* Of the predefined attributes, communicators of a session have MPI_TAG_UB alone (MPI-5.0, 9.1.2). */
static void check_predefined_attributes(MPI_Comm comm) {
    const int of_the_world[] = {MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL, MPI_APPNUM, MPI_UNIVERSE_SIZE, MPI_LASTUSEDCODE};
    int *value = NULL, found = 0;
    CHECK(MPI_Comm_get_attr(comm, MPI_TAG_UB, &value, &found) == MPI_SUCCESS && found && *value >= 32767);
    for (unsigned i = 0; i < sizeof of_the_world / sizeof *of_the_world; ++i) {
        CHECK(MPI_Comm_get_attr(comm, of_the_world[i], &value, &found) == MPI_SUCCESS && !found);
    }
}

static void check_communicators(void) {
    MPI_Session session = open_session(NULL), other = open_session(NULL);
    MPI_Comm comm = comm_of(session, "mpi://WORLD", "here"), dup, half, mine = comm_of(session, "mpi://SELF", "here");
    MPI_Comm twin = comm_of(other, "mpi://WORLD", "here"), none = MPI_COMM_WORLD;
    MPI_Group group, of_half;
    int rank, result = 0;
    exchange(comm);
    exchange(mine);
    exchange(twin);
    MPI_Comm_rank(comm, &rank);
    CHECK(MPI_Comm_dup(comm, &dup) == MPI_SUCCESS);
    CHECK(MPI_Comm_split(comm, rank % 2, 0, &half) == MPI_SUCCESS);
    exchange(dup);
    exchange(half);
    check_predefined_attributes(comm);
    check_predefined_attributes(mine);
    check_predefined_attributes(half);
    MPI_Comm_group(comm, &group);
    MPI_Comm_group(half, &of_half);
    CHECK(MPI_Group_compare(group, of_half, &result) == MPI_SUCCESS);
    CHECK(MPI_Comm_compare(comm, dup, &result) == MPI_SUCCESS && result == MPI_CONGRUENT);
    CHECK(MPI_Comm_compare(comm, twin, &result) == MPI_ERR_SESSION);
    CHECK(MPI_Comm_create_group(twin, group, 1, &none) == MPI_ERR_SESSION);
    CHECK(
        MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "empty", MPI_INFO_NULL, MPI_ERRORS_RETURN, &none) == MPI_SUCCESS &&
        none == MPI_COMM_NULL);
    MPI_Group_free(&of_half);
    MPI_Comm_free(&twin);
    CHECK(MPI_Session_finalize(&other) == MPI_SUCCESS);
    exchange(half); /* the end of the other session does not affect this one */
    MPI_Comm_free(&half);
    MPI_Comm_free(&dup);
    MPI_Comm_free(&mine);
    MPI_Comm_free(&comm);
    CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
    CHECK(MPI_Group_free(&group) == MPI_SUCCESS); /* groups are local and may exist longer than their session */
}

static MPI_Session reported_session;
static MPI_Comm reported_comm;
static int reported_session_code, reported_comm_code, session_calls, comm_calls;
static void on_session(MPI_Session* session, int* code, ...) {
    reported_session = *session;
    reported_session_code = *code;
    ++session_calls;
}
static void on_comm(MPI_Comm* comm, int* code, ...) {
    reported_comm = *comm;
    reported_comm_code = *code;
    ++comm_calls;
}

/* The error goes to MPI_COMM_SELF, because there is no session yet. */
static void check_wrong_handler_for_session(void) {
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Errhandler for_comms, for_others;
    MPI_Comm_create_errhandler(on_comm, &for_comms);
    MPI_Comm_create_errhandler(on_comm, &for_others);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, for_comms);
    reported_comm = MPI_COMM_NULL;
    CHECK(MPI_Session_init(MPI_INFO_NULL, for_others, &session) == MPI_ERR_ERRHANDLER && session == MPI_SESSION_NULL);
    CHECK(comm_calls == 1 && reported_comm == MPI_COMM_SELF && reported_comm_code == MPI_ERR_ERRHANDLER);
    comm_calls = 0;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&for_comms);
    MPI_Errhandler_free(&for_others);
}

static void check_error_handlers(void) {
    MPI_Session one, other = open_session(NULL);
    MPI_Errhandler for_sessions, for_comms, current;
    MPI_Group group;
    MPI_Comm comm = MPI_COMM_NULL;
    char long_tag[MPI_MAX_STRINGTAG_LEN + 8];
    int n = 0;
    MPI_Session_create_errhandler(on_session, &for_sessions);
    MPI_Comm_create_errhandler(on_comm, &for_comms);
    CHECK(MPI_Session_init(MPI_INFO_NULL, for_sessions, &one) == MPI_SUCCESS);
    CHECK(MPI_Session_get_errhandler(one, &current) == MPI_SUCCESS && current == for_sessions);
    MPI_Errhandler_free(&current);

    CHECK(MPI_Session_get_num_psets(one, MPI_INFO_NULL, NULL) == MPI_ERR_ARG);
    CHECK(session_calls == 1 && reported_session == one && reported_session_code == MPI_ERR_ARG);
    CHECK(MPI_Session_get_num_psets(other, MPI_INFO_NULL, NULL) == MPI_ERR_ARG && session_calls == 1);
    CHECK(MPI_Session_call_errhandler(one, MPI_ERR_IO) == MPI_SUCCESS);
    CHECK(session_calls == 2 && reported_session_code == MPI_ERR_IO);
    CHECK(MPI_Session_set_errhandler(one, for_comms) == MPI_ERR_ERRHANDLER && session_calls == 3);

    MPI_Group_from_session_pset(one, "mpi://WORLD", &group);
    CHECK(MPI_Group_size(group, NULL) == MPI_ERR_ARG); /* an error with a group goes to its session */
    CHECK(session_calls == 4 && reported_session == one);

    /* The error handler in the argument is called for errors of the constructor, then for those of the communicator. */
    memset(long_tag, 'x', sizeof long_tag - 1);
    long_tag[sizeof long_tag - 1] = '\0';
    CHECK(MPI_Comm_create_from_group(group, long_tag, MPI_INFO_NULL, for_comms, &comm) == MPI_ERR_ARG);
    CHECK(comm_calls == 1 && reported_comm == MPI_COMM_NULL && reported_comm_code == MPI_ERR_ARG && session_calls == 4);
    CHECK(MPI_Comm_create_from_group(group, "handler", MPI_INFO_NULL, for_comms, &comm) == MPI_SUCCESS);
    CHECK(MPI_Send(&n, 1, MPI_INT, 1 << 20, 0, comm) == MPI_ERR_RANK);
    CHECK(comm_calls == 2 && reported_comm == comm && reported_comm_code == MPI_ERR_RANK && session_calls == 4);

    /* With an error handler for another kind of object the error goes to the session of the group. The function of
       that handler is never called, because its first argument would have the wrong type. */
    reported_session = MPI_SESSION_NULL;
    CHECK(MPI_Comm_create_from_group(group, "handler", MPI_INFO_NULL, for_sessions, &comm) == MPI_ERR_ERRHANDLER);
    CHECK(session_calls == 5 && reported_session == one && reported_session_code == MPI_ERR_ERRHANDLER);
    reported_session = MPI_SESSION_NULL;
    CHECK(MPI_Intercomm_create_from_groups(group, 0, group, 0, "handler", MPI_INFO_NULL, for_sessions, &comm) ==
        MPI_ERR_ERRHANDLER);
    CHECK(session_calls == 6 && reported_session == one && reported_session_code == MPI_ERR_ERRHANDLER);
    CHECK(
        MPI_Comm_create_from_group(group, "handler", MPI_INFO_NULL, MPI_ERRHANDLER_NULL, &comm) == MPI_ERR_ERRHANDLER);
    CHECK(session_calls == 7 && reported_session == one && comm_calls == 2);
    MPI_Group_free(&group);
    MPI_Comm_free(&reported_comm);
    MPI_Errhandler_free(&for_sessions);
    MPI_Errhandler_free(&for_comms);
    CHECK(MPI_Session_finalize(&one) == MPI_SUCCESS);
    CHECK(MPI_Session_finalize(&other) == MPI_SUCCESS);
}

/* Each session has its own buffer. A buffer of the communicator comes before it; a session without a buffer uses that
   of the process. */
static void check_buffers(void) {
    MPI_Session session = open_session(NULL), bare = open_session(NULL);
    MPI_Comm comm = comm_of(session, "mpi://SELF", "buffers"), without = comm_of(bare, "mpi://SELF", "buffers");
    const int size = 4000 + MPI_BSEND_OVERHEAD;
    char *memory = malloc(size), *process = malloc(size), data[1000], in[1000];
    void* back = NULL;
    int back_size = 0, done = 0;
    MPI_Count big = 0;
    MPI_Request request;
    memset(data, 'b', sizeof data);
    CHECK(MPI_Bsend(data, 1000, MPI_CHAR, 0, 1, comm) == MPI_ERR_BUFFER);
    CHECK(MPI_Session_attach_buffer(session, memory, size) == MPI_SUCCESS);
    CHECK(MPI_Session_attach_buffer(session, memory, size) == MPI_ERR_BUFFER);
    CHECK(MPI_Bsend(data, 1000, MPI_CHAR, 0, 1, comm) == MPI_SUCCESS);
    CHECK(MPI_Bsend(data, 1000, MPI_CHAR, 0, 1, without) == MPI_ERR_BUFFER);
    CHECK(MPI_Buffer_attach(process, size) == MPI_SUCCESS);
    CHECK(MPI_Bsend(data, 1000, MPI_CHAR, 0, 2, without) == MPI_SUCCESS);
    CHECK(MPI_Recv(in, 1000, MPI_CHAR, 0, 2, without, MPI_STATUS_IGNORE) == MPI_SUCCESS && memcmp(in, data, 1000) == 0);
    CHECK(MPI_Recv(in, 1000, MPI_CHAR, 0, 1, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS && memcmp(in, data, 1000) == 0);
    CHECK(MPI_Session_iflush_buffer(session, &request) == MPI_SUCCESS);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_Session_flush_buffer(session) == MPI_SUCCESS);
    CHECK(MPI_Session_iflush_buffer(bare, &request) == MPI_SUCCESS);
    CHECK(MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done);
    CHECK(MPI_Session_detach_buffer(session, &back, &back_size) == MPI_SUCCESS && back == memory && back_size == size);
    CHECK(MPI_Session_detach_buffer(session, &back, &back_size) == MPI_ERR_BUFFER);
    CHECK(MPI_Buffer_detach(&back, &back_size) == MPI_SUCCESS && back == process);
    CHECK(MPI_Session_attach_buffer_c(session, MPI_BUFFER_AUTOMATIC, 0) == MPI_SUCCESS);
    CHECK(MPI_Bsend(data, 1000, MPI_CHAR, 0, 1, comm) == MPI_SUCCESS);
    CHECK(MPI_Recv(in, 1000, MPI_CHAR, 0, 1, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_Session_detach_buffer_c(session, &back, &big) == MPI_SUCCESS && back == MPI_BUFFER_AUTOMATIC);
    CHECK(MPI_Session_attach_buffer(session, memory, size) == MPI_SUCCESS); /* MPI_Session_finalize detaches it */
    MPI_Comm_free(&comm);
    MPI_Comm_free(&without);
    CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
    CHECK(MPI_Session_finalize(&bare) == MPI_SUCCESS);
    free(memory);
    free(process);
}

static int deleted, refuse;
static int on_delete(MPI_Session session, int keyval, void* value, void* extra) {
    CHECK(session != MPI_SESSION_NULL && keyval > 0 && value == (void*)&deleted && extra == (void*)&refuse);
    if (refuse) {
        return MPI_ERR_OTHER;
    }
    ++deleted;
    return MPI_SUCCESS;
}
static int on_comm_delete(MPI_Comm comm, int keyval, void* value, void* extra) {
    (void)keyval;
    (void)extra;
    int size = 0;
    CHECK(MPI_Comm_size(comm, &size) == MPI_SUCCESS && size > 0);
    ++*(int*)value;
    return MPI_SUCCESS;
}

static void check_attributes(void) {
    int keyval = MPI_KEYVAL_INVALID, comm_keyval = MPI_KEYVAL_INVALID, flag = -1;
    void* value = NULL;
    CHECK(MPIX_Session_create_keyval(on_delete, &keyval, &refuse) == MPI_SUCCESS);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_comm_delete, &comm_keyval, NULL);
    MPI_Session session = open_session(NULL), other = open_session(NULL);
    CHECK(MPIX_Session_get_attr(session, keyval, &value, &flag) == MPI_SUCCESS && !flag);
    CHECK(MPIX_Session_set_attr(session, keyval, &deleted) == MPI_SUCCESS);
    CHECK(MPIX_Session_get_attr(session, keyval, &value, &flag) == MPI_SUCCESS && flag && value == (void*)&deleted);
    CHECK(MPIX_Session_get_attr(other, keyval, &value, &flag) == MPI_SUCCESS && !flag);
    CHECK(MPIX_Session_delete_attr(session, keyval) == MPI_SUCCESS && deleted == 1);
    CHECK(MPIX_Session_set_attr(session, comm_keyval, &deleted) == MPI_ERR_KEYVAL);
    CHECK(MPIX_Session_set_attr(session, keyval, &deleted) == MPI_SUCCESS);
    CHECK(MPIX_Session_set_attr(other, keyval, &deleted) == MPI_SUCCESS);
    const int key = keyval;
    CHECK(MPIX_Session_free_keyval(&keyval) == MPI_SUCCESS && keyval == MPI_KEYVAL_INVALID);
    refuse = 1;
    CHECK(MPI_Session_finalize(&session) == MPI_ERR_OTHER && session != MPI_SESSION_NULL);
    refuse = 0;
    CHECK(MPIX_Session_get_attr(session, key, &value, &flag) == MPI_ERR_KEYVAL || flag);
    CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS && deleted == 2);

    /* MPI_Session_finalize frees a communicator that the program has not freed, with its attributes. */
    static int comm_deleted;
    MPI_Comm left = comm_of(other, "mpi://WORLD", "left"), dup;
    MPI_Comm_dup(left, &dup);
    exchange(dup);
    MPI_Comm_set_attr(left, comm_keyval, &comm_deleted);
    CHECK(MPI_Session_finalize(&other) == MPI_SUCCESS && deleted == 3 && comm_deleted == 1);
    MPI_Comm_free_keyval(&comm_keyval);
}

int main(int argc, char** argv) {
    const int with_world = argc > 1;
    if (with_world) {
        MPI_Init(&argc, &argv);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        check_wrong_handler_for_session();
    }
    MPI_Session all = open_session(NULL); /* without MPI_Init, the other sessions are not the last to end */
    check_communicators();
    check_error_handlers();
    check_buffers();
    check_attributes();
    if (with_world) {
        exchange(MPI_COMM_WORLD);
        MPI_Group group;
        MPI_Comm comm = MPI_COMM_NULL;
        MPI_Comm_group(MPI_COMM_WORLD, &group);
        CHECK(
            MPI_Comm_create_from_group(group, "of the world", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS);
        exchange(comm);
        MPI_Group_free(&group);
        MPI_Comm_free(&comm);
        MPI_Finalize();
    }
    MPI_Session_finalize(&all);
    check_communicators();
    return failures();
}
