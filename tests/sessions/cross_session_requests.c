/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of two sessions, or of a session and the world model, in one call: the call returns MPI_ERR_SESSION and has
 * no other effect. Requests of one session, and requests of no session, may be in one call. */
#include "tests/sessions/session_check.h"

enum { most = 4 };

static int error_calls;
static void on_error(MPI_Session* session, int* code, ...) {
    CHECK(*session != MPI_SESSION_NULL && *code == MPI_ERR_SESSION);
    ++error_calls;
}

static MPI_Session open_counting(void) {
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Errhandler handler;
    MPI_Session_create_errhandler(on_error, &handler);
    CHECK(MPI_Session_init(MPI_INFO_NULL, handler, &session) == MPI_SUCCESS);
    MPI_Errhandler_free(&handler);
    return session;
}

static MPI_Comm self_of(MPI_Session session, const char* tag) {
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK(MPI_Group_from_session_pset(session, "mpi://SELF", &group) == MPI_SUCCESS);
    CHECK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS);
    MPI_Group_free(&group);
    return comm;
}

/* One call on an array of requests; *done: how many of them it completed. */
struct call {
    const char* name;
    int (*on)(int count, MPI_Request* requests, int* done);
};

static int wait_all(int count, MPI_Request* requests, int* done) {
    *done = count;
    return MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}
static int test_all(int count, MPI_Request* requests, int* done) {
    int flag = 0;
    const int code = MPI_Testall(count, requests, &flag, MPI_STATUSES_IGNORE);
    *done = flag ? count : 0;
    return code;
}
static int wait_any(int count, MPI_Request* requests, int* done) {
    int index = -1;
    *done = 1;
    return MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
}
static int test_any(int count, MPI_Request* requests, int* done) {
    int index = -1;
    return MPI_Testany(count, requests, &index, done, MPI_STATUS_IGNORE);
}
static int wait_some(int count, MPI_Request* requests, int* done) {
    int indices[most];
    return MPI_Waitsome(count, requests, done, indices, MPI_STATUSES_IGNORE);
}
static int test_some(int count, MPI_Request* requests, int* done) {
    int indices[most];
    return MPI_Testsome(count, requests, done, indices, MPI_STATUSES_IGNORE);
}
static const struct call calls[] = {
    {"MPI_Waitall", wait_all},
    {"MPI_Testall", test_all},
    {"MPI_Waitany", wait_any},
    {"MPI_Testany", test_any},
    {"MPI_Waitsome", wait_some},
    {"MPI_Testsome", test_some},
};
enum { number_of_calls = sizeof calls / sizeof *calls };

/* Calls that do not change the requests. */
static int status_all(int count, MPI_Request* requests, int* done) {
    return MPI_Request_get_status_all(count, requests, done, MPI_STATUSES_IGNORE);
}
static int status_any(int count, MPI_Request* requests, int* done) {
    int index = -1;
    return MPI_Request_get_status_any(count, requests, &index, done, MPI_STATUS_IGNORE);
}
static int status_some(int count, MPI_Request* requests, int* done) {
    int indices[most];
    return MPI_Request_get_status_some(count, requests, done, indices, MPI_STATUSES_IGNORE);
}
static const struct call looks[] = {
    {"MPI_Request_get_status_all", status_all},
    {"MPI_Request_get_status_any", status_any},
    {"MPI_Request_get_status_some", status_some},
};
enum { number_of_looks = sizeof looks / sizeof *looks };

static void check_text(const char* function, const char* whose) {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    CHECK(MPI_Error_string(MPI_ERR_SESSION, text, &length) == MPI_SUCCESS);
    if (strstr(text, function) == NULL || strstr(text, "array_of_requests") == NULL || strstr(text, whose) == NULL) {
        check_failed(__FILE__, __LINE__, text);
    }
}

static void refuse(const struct call* call, MPI_Request requests[3], const char* whose) {
    const MPI_Request first = requests[0], last = requests[2];
    int done;
    if (call->on(3, requests, &done) != MPI_ERR_SESSION) {
        check_failed(__FILE__, __LINE__, call->name);
    }
    check_text(call->name, whose);
    CHECK(requests[0] == first && requests[2] == last); /* the call has changed nothing */
}

static int drain(const struct call* call, int count, MPI_Request* requests) {
    int rounds = 0;
    for (int completed = 0, done = 0; completed < count && rounds < 1000000; completed += done, ++rounds) {
        if (call->on(count, requests, &done) != MPI_SUCCESS) {
            return 0;
        }
    }
    for (int i = 0; i < count; ++i) {
        if (requests[i] != MPI_REQUEST_NULL) {
            return 0;
        }
    }
    return 1;
}

/* The error text contains `whose`. If `one` belongs to a session, the error goes to that session's error handler. */
static void mix(MPI_Comm one, MPI_Comm other, const char* whose) {
    int in[2], out[2] = {1, 2};
    for (int i = 0; i < number_of_calls + number_of_looks; ++i) {
        const struct call* call = i < number_of_calls ? &calls[i] : &looks[i - number_of_calls];
        MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        MPI_Irecv(&in[0], 1, MPI_INT, 0, 1, one, &requests[0]);
        MPI_Irecv(&in[1], 1, MPI_INT, 0, 1, other, &requests[2]);
        refuse(call, requests, whose); /* no message has arrived */
        MPI_Send(&out[0], 1, MPI_INT, 0, 1, one);
        MPI_Send(&out[1], 1, MPI_INT, 0, 1, other);
        refuse(call, requests, whose);
        CHECK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(MPI_Wait(&requests[2], MPI_STATUS_IGNORE) == MPI_SUCCESS);
    }
}

/* A request may complete as soon as it begins, and its communicator may be freed before a call waits for the request.
 */
static void mix_after_free(MPI_Session session, MPI_Comm other) {
    int in[2], out[2] = {1, 2};
    for (int i = 0; i < number_of_calls; ++i) {
        MPI_Comm gone = self_of(session, "gone");
        MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        MPI_Isend(&out[0], 1, MPI_INT, 0, 1, gone, &requests[0]);
        MPI_Recv(&in[0], 1, MPI_INT, 0, 1, gone, MPI_STATUS_IGNORE);
        MPI_Comm_free(&gone);
        MPI_Irecv(&in[1], 1, MPI_INT, 0, 1, other, &requests[2]);
        refuse(&calls[i], requests, "");
        MPI_Send(&out[1], 1, MPI_INT, 0, 1, other);
        CHECK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(MPI_Wait(&requests[2], MPI_STATUS_IGNORE) == MPI_SUCCESS);
    }
}

static void mix_persistent(MPI_Comm one, MPI_Comm other, const char* whose) {
    int in[2], out[2] = {1, 2}, flag = 0;
    MPI_Request requests[2], sends[2];
    MPI_Recv_init(&in[0], 1, MPI_INT, 0, 3, one, &requests[0]);
    MPI_Recv_init(&in[1], 1, MPI_INT, 0, 3, other, &requests[1]);
    CHECK(MPI_Startall(2, requests) == MPI_ERR_SESSION);
    check_text("MPI_Startall", whose);
    /* No persistent request has been started. */
    CHECK(MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag);
    CHECK(MPI_Start(&requests[0]) == MPI_SUCCESS);
    CHECK(MPI_Start(&requests[1]) == MPI_SUCCESS);
    MPI_Isend(&out[0], 1, MPI_INT, 0, 3, one, &sends[0]);
    MPI_Isend(&out[1], 1, MPI_INT, 0, 3, other, &sends[1]);
    for (int i = 0; i < 2; ++i) {
        CHECK(MPI_Wait(&sends[i], MPI_STATUS_IGNORE) == MPI_SUCCESS);
    }
    /* The other request is inactive or null, so that its session does not matter. */
    CHECK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE) == MPI_SUCCESS && requests[1] != MPI_REQUEST_NULL);
    CHECK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS && in[0] == 1 && in[1] == 2);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static int query(void* state, MPI_Status* status) {
    (void)state;
    MPI_Status_set_elements(status, MPI_INT, 0);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}
static int released(void* state) {
    (void)state;
    return MPI_SUCCESS;
}
static int cancelled(void* state, int complete) {
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

/* Two communicators of one session, and requests of no session: with MPI_PROC_NULL, and a generalized request. */
static void together(MPI_Comm one, MPI_Comm other_of_the_same, MPI_Comm other) {
    int in[2], out = 5;
    for (int i = 0; i < number_of_calls; ++i) {
        MPI_Request requests[4], starting[2];
        MPI_Irecv(&in[0], 1, MPI_INT, 0, 1, one, &requests[0]);
        MPI_Irecv(&in[1], 1, MPI_INT, MPI_PROC_NULL, 1, other, &requests[1]);
        MPI_Irecv(&in[1], 1, MPI_INT, 0, 1, other_of_the_same, &requests[2]);
        MPI_Grequest_start(query, released, cancelled, NULL, &requests[3]);
        MPI_Grequest_complete(requests[3]);
        MPI_Send(&out, 1, MPI_INT, 0, 1, one);
        MPI_Send(&out, 1, MPI_INT, 0, 1, other_of_the_same);
        if (!drain(&calls[i], 4, requests)) {
            check_failed(__FILE__, __LINE__, calls[i].name);
        }
        MPI_Recv_init(&in[0], 1, MPI_INT, 0, 1, one, &starting[0]);
        MPI_Send_init(&out, 1, MPI_INT, 0, 1, one, &starting[1]);
        CHECK(MPI_Startall(2, starting) == MPI_SUCCESS);
        CHECK(MPI_Waitall(2, starting, MPI_STATUSES_IGNORE) == MPI_SUCCESS && in[0] == 5);
        MPI_Request_free(&starting[0]);
        MPI_Request_free(&starting[1]);
    }
}

int main(int argc, char** argv) {
    const int with_world = argc > 1;
    if (with_world) {
        MPI_Init(&argc, &argv);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    }
    MPI_Session session = open_counting(), another = open_counting();
    MPI_Comm one = self_of(session, "one"), two = self_of(session, "two"), other = self_of(another, "other");
    const char* sessions = "two different sessions";
    const char* world = "a session and to the world model";
    together(one, two, other);
    CHECK(error_calls == 0);
    mix(one, other, sessions);
    mix_persistent(one, other, sessions);
    CHECK(error_calls == 2 * (number_of_calls + number_of_looks) + 1);
    mix_after_free(session, other);
    CHECK(error_calls == 2 * (number_of_calls + number_of_looks) + 1 + number_of_calls);
    if (with_world) {
        MPI_Comm dup;
        MPI_Comm_dup(MPI_COMM_SELF, &dup);
        together(dup, MPI_COMM_SELF, one);
        error_calls = 0;
        mix(one, MPI_COMM_SELF, world);
        mix_persistent(one, dup, world);
        CHECK(error_calls == 2 * (number_of_calls + number_of_looks) + 1);
        /* The first request belongs to the world model: the error goes to MPI_COMM_SELF. */
        mix(MPI_COMM_SELF, one, world);
        mix_persistent(dup, one, world);
        CHECK(error_calls == 2 * (number_of_calls + number_of_looks) + 1);
        mix_after_free(session, MPI_COMM_SELF);
        MPI_Comm_free(&dup);
    }
    MPI_Comm_free(&one);
    MPI_Comm_free(&two);
    MPI_Comm_free(&other);
    CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
    CHECK(MPI_Session_finalize(&another) == MPI_SUCCESS);
    if (with_world) {
        MPI_Finalize();
    }
    return failures();
}
