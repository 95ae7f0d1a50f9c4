/* SPDX-License-Identifier: BSD-3-Clause */
/* What a bundle refuses, what other calls refuse of its members, and errors of members. */
#include "tests/mpi_check/check.h"

#include <mpix.h>
#include <string.h>

static int rank, size;
static int word, other_word;

static void check_text(int code, const char* part) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Error_string(code, text, &length);
    if (strstr(text, part) == NULL) {
        fprintf(stderr, "'%s' is not in '%s'\n", part, text);
    }
    CHECK(strstr(text, part) != NULL);
}

/* A send of this process to itself, and its receive. */
static void pair_init(MPI_Request* pair, int tag) {
    CHECK_OK(MPI_Recv_init(&other_word, 1, MPI_INT, 0, tag, MPI_COMM_SELF, &pair[0]));
    CHECK_OK(MPI_Send_init(&word, 1, MPI_INT, 0, tag, MPI_COMM_SELF, &pair[1]));
}
static void pair_free(MPI_Request* pair) {
    CHECK_OK(MPI_Request_free(&pair[0]));
    CHECK_OK(MPI_Request_free(&pair[1]));
}
static void run_pair(MPI_Request* pair) {
    other_word = -1;
    word = 4711;
    CHECK_OK(MPI_Startall(2, pair));
    CHECK_OK(MPI_Waitall(2, pair, MPI_STATUSES_IGNORE));
    CHECK_EQUAL(other_word, 4711);
}

static void test_arguments(void) {
    MPI_Request pair[2], bundle = MPI_REQUEST_NULL, plain;
    pair_init(pair, 1);
    CHECK_CLASS(MPIX_Bundle_init(-1, pair, MPI_INFO_NULL, &bundle), MPI_ERR_COUNT);
    CHECK_CLASS(MPIX_Bundle_init(2, NULL, MPI_INFO_NULL, &bundle), MPI_ERR_ARG);
    CHECK_CLASS(MPIX_Bundle_init(2, pair, MPI_INFO_NULL, NULL), MPI_ERR_ARG);

    MPI_Request with_null[2] = {pair[0], MPI_REQUEST_NULL};
    CHECK_CLASS(MPIX_Bundle_init(2, with_null, MPI_INFO_NULL, &bundle), MPI_ERR_REQUEST);
    MPI_Request twice[3] = {pair[0], pair[1], pair[0]};
    int code = MPIX_Bundle_init(3, twice, MPI_INFO_NULL, &bundle);
    CHECK_CLASS(code, MPI_ERR_REQUEST);
    check_text(code, "twice");

    CHECK_OK(MPI_Irecv(&other_word, 1, MPI_INT, 0, 2, MPI_COMM_SELF, &plain));
    CHECK_CLASS(MPIX_Bundle_init(1, &plain, MPI_INFO_NULL, &bundle), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Send(&word, 1, MPI_INT, 0, 2, MPI_COMM_SELF));
    CHECK_OK(MPI_Wait(&plain, MPI_STATUS_IGNORE));

    CHECK_OK(MPI_Start(&pair[0]));
    CHECK_CLASS(MPIX_Bundle_init(2, pair, MPI_INFO_NULL, &bundle), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Start(&pair[1]));
    CHECK_OK(MPI_Waitall(2, pair, MPI_STATUSES_IGNORE));
    run_pair(pair); /* after all errors they are what they were */
    pair_free(pair);
}

static void test_members(void) {
    MPI_Request pair[2], bundle, second = MPI_REQUEST_NULL, copy;
    MPI_Status status;
    int flag;
    pair_init(pair, 3);
    CHECK_OK(MPIX_Bundle_init(2, pair, MPI_INFO_NULL, &bundle));
    for (int active = 0; active < 2; ++active) {
        if (active) {
            CHECK_OK(MPI_Start(&bundle));
        }
        CHECK_CLASS(MPI_Start(&pair[0]), MPI_ERR_REQUEST);
        CHECK_CLASS(MPI_Startall(2, pair), MPI_ERR_REQUEST);
        const int code = MPI_Wait(&pair[0], MPI_STATUS_IGNORE);
        CHECK_CLASS(code, MPI_ERR_REQUEST);
        check_text(code, "member of a bundle");
        CHECK_CLASS(MPI_Test(&pair[1], &flag, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
        CHECK_CLASS(MPI_Waitall(2, pair, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
        CHECK_CLASS(MPI_Cancel(&pair[0]), MPI_ERR_REQUEST);
        copy = pair[0];
        CHECK_CLASS(MPI_Request_free(&copy), MPI_ERR_REQUEST);
        CHECK(copy == pair[0]);
        CHECK_CLASS(MPIX_Bundle_init(2, pair, MPI_INFO_NULL, &second), MPI_ERR_REQUEST);
    }
    CHECK_CLASS(MPI_Start(&bundle), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Cancel(&bundle), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Wait(&bundle, MPI_STATUS_IGNORE));
    /* The status of a member can be read. */
    CHECK_OK(MPI_Request_get_status(pair[0], &flag, &status));
    CHECK_EQUAL(flag, 1);
    CHECK_EQUAL(status.MPI_SOURCE, 0);
    CHECK_EQUAL(status.MPI_TAG, 3);
    CHECK_OK(MPI_Request_free(&bundle));
    run_pair(pair);
    pair_free(pair);
}

/* A receive from another process that never comes: the bundle is active. */
static void test_active_bundle(void) {
    MPI_Request pair[2], bundle;
    int flag = 1, there = -1;
    const int partner = size == 1 ? 0 : rank ^ 1;
    CHECK_OK(MPI_Recv_init(&there, 1, MPI_INT, partner, 4, MPI_COMM_WORLD, &pair[0]));
    CHECK_OK(MPI_Send_init(&word, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &pair[1]));
    CHECK_OK(MPIX_Bundle_init(1, pair, MPI_INFO_NULL, &bundle));
    CHECK_OK(MPI_Start(&bundle));
    CHECK_OK(MPI_Test(&bundle, &flag, MPI_STATUS_IGNORE));
    CHECK_EQUAL(flag, 0);
    const int code = MPI_Request_free(&bundle);
    CHECK_CLASS(code, MPI_ERR_REQUEST);
    check_text(code, "active");
    CHECK_OK(MPI_Request_get_status(pair[0], &flag, MPI_STATUS_IGNORE));
    CHECK_EQUAL(flag, 0);
    MPI_Barrier(MPI_COMM_WORLD); /* not before both have looked */
    word = rank + 50;
    CHECK_OK(MPI_Send(&word, 1, MPI_INT, partner, 4, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&bundle, MPI_STATUS_IGNORE));
    CHECK_EQUAL(there, partner + 50);
    CHECK_OK(MPI_Request_free(&bundle));
    pair_free(pair);
}

/* A message that is too long for its receive is the bundle's error; the others are carried out. */
static void test_error_of_member(void) {
    MPI_Request pair[2], large, bundle;
    int two[2] = {1, 2};
    pair_init(pair, 6);
    CHECK_OK(MPI_Send_init(two, 2, MPI_INT, 0, 7, MPI_COMM_SELF, &large));
    MPI_Request wrong;
    CHECK_OK(MPI_Recv_init(&other_word, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &wrong));
    MPI_Request all[4] = {pair[0], wrong, pair[1], large};
    int received = -1;
    CHECK_OK(MPI_Request_free(&pair[0]));
    CHECK_OK(MPI_Recv_init(&received, 1, MPI_INT, 0, 6, MPI_COMM_SELF, &pair[0]));
    all[0] = pair[0];
    CHECK_OK(MPIX_Bundle_init(4, all, MPI_INFO_NULL, &bundle));
    for (int round = 0; round < 3; ++round) {
        word = 30 + round;
        MPI_Status status;
        CHECK_OK(MPI_Start(&bundle));
        const int code = MPI_Wait(&bundle, &status);
        CHECK_CLASS(code, MPI_ERR_TRUNCATE);
        check_text(code, "member 1 of the bundle");
        CHECK_EQUAL(received, 30 + round);
    }
    CHECK_OK(MPI_Request_free(&bundle));
    for (int i = 0; i < 4; ++i) {
        CHECK_OK(MPI_Request_free(&all[i]));
    }
}

/* Members that cannot be started: a put without an epoch. */
static void test_error_of_start(void) {
    int memory = 0, source = 9;
    MPI_Win win;
    MPI_Request put, pair[2], bundle;
    MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_SELF, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK_OK(MPIX_Put_init(&source, 1, MPI_INT, 0, 0, 1, MPI_INT, win, MPI_INFO_NULL, &put));
    CHECK_OK(MPIX_Bundle_init(1, &put, MPI_INFO_NULL, &bundle));
    int code = MPI_Start(&bundle); /* nothing has been started */
    CHECK_CLASS(code, MPI_ERR_RMA_SYNC);
    check_text(code, "member 0 of the bundle");
    int flag = 0;
    CHECK_OK(MPI_Test(&bundle, &flag, MPI_STATUS_IGNORE));
    CHECK_EQUAL(flag, 1); /* it is inactive */
    CHECK_OK(MPI_Request_free(&bundle));
    pair_init(pair, 8);
    MPI_Request all[3] = {put, pair[0], pair[1]};
    MPI_Status status;
    CHECK_OK(MPIX_Bundle_init(3, all, MPI_INFO_NULL, &bundle));
    CHECK_OK(MPI_Request_get_status(all[1], &flag, &status)); /* never started */
    CHECK_EQUAL(flag, 1);
    CHECK_EQUAL(status.MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_EQUAL(status.MPI_TAG, MPI_ANY_TAG);
    word = 61;
    CHECK_OK(MPI_Start(&bundle)); /* the message has been started */
    code = MPI_Wait(&bundle, MPI_STATUS_IGNORE);
    CHECK_CLASS(code, MPI_ERR_RMA_SYNC);
    CHECK_EQUAL(other_word, 61);
    CHECK_CLASS(MPI_Request_get_status(all[0], &flag, &status), MPI_ERR_RMA_SYNC);
    CHECK_EQUAL(flag, 1);
    CHECK_OK(MPI_Request_get_status(all[1], &flag, &status));
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    word = 62;
    CHECK_OK(MPI_Start(&bundle));
    CHECK_OK(MPI_Wait(&bundle, MPI_STATUS_IGNORE));
    MPI_Win_unlock(0, win);
    CHECK_EQUAL(other_word, 62);
    CHECK_OK(MPI_Request_get_status(all[0], &flag, &status));
    CHECK_EQUAL(memory, 9);
    CHECK_OK(MPI_Request_free(&bundle));
    for (int i = 0; i < 3; ++i) {
        CHECK_OK(MPI_Request_free(&all[i]));
    }
    MPI_Win_free(&win);
}

/* Requests of a session and of the world model. */
static void test_sessions(void) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Request members[2], bundle = MPI_REQUEST_NULL;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://SELF", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "bundle", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Send_init(&word, 1, MPI_INT, 0, 9, comm, &members[0]));
    CHECK_OK(MPI_Send_init(&word, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &members[1]));
    CHECK_CLASS(MPIX_Bundle_init(2, members, MPI_INFO_NULL, &bundle), MPI_ERR_SESSION);
    pair_free(members);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
}

int main(void) {
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    test_arguments();
    test_members();
    test_active_bundle();
    test_error_of_member();
    test_error_of_start();
    test_sessions();
    return finish();
}
