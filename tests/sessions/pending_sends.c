/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Session_finalize returns only after all that its communicators have pending is sent: rank 0 finalizes one of two
 * sessions and then calls no MPI until rank 1 has received all pending packets of that session. Rank 1 does not call
 * MPI before rank 0 has filled the ring between them. The ranks synchronise by signals, so that no test depends on
 * time. */
#define _POSIX_C_SOURCE 200809L
#include "tests/sessions/session_check.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { count = 5000, length = 200000, patience = 60 /* seconds */ };
static int rank, peer_pid;
static MPI_Comm first, second; /* of two sessions */
static int out[count], in[count], large[length];
static MPI_Request kept[count];

static sigset_t the_signal(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    return set;
}

static void signal_peer(void) {
    CHECK(kill(peer_pid, SIGUSR1) == 0);
}

/* Waits without MPI. */
static int await_signal(void) {
    const sigset_t set = the_signal();
    const struct timespec limit = {patience, 0};
    int got;
    do {
        got = sigtimedwait(&set, NULL, &limit);
    } while (got < 0 && errno == EINTR);
    return got == SIGUSR1;
}

static MPI_Comm all_of(MPI_Session session, const char* tag) {
    MPI_Group group;
    MPI_Comm comm;
    CHECK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group) == MPI_SUCCESS);
    CHECK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS);
    MPI_Group_free(&group);
    return comm;
}

static void exchange_pids(void) {
    const int pid = getpid();
    MPI_Sendrecv(&pid, 1, MPI_INT, !rank, 0, &peer_pid, 1, MPI_INT, !rank, 0, second, MPI_STATUS_IGNORE);
    MPI_Barrier(first);
}

/* Messages whose requests are freed. */
static void leave_short_messages(void) {
    for (int i = 0; i < count; ++i) {
        MPI_Request request;
        out[i] = 3 * i;
        MPI_Isend(&out[i], 1, MPI_INT, 1, 1, first, &request);
        MPI_Request_free(&request);
    }
}

static void expect_short_messages(void) {
    for (int i = 0; i < count; ++i) {
        CHECK(MPI_Recv(&in[i], 1, MPI_INT, 0, 1, first, MPI_STATUS_IGNORE) == MPI_SUCCESS && in[i] == 3 * i);
    }
}

static void end_first(MPI_Session* session) {
    CHECK(MPI_Session_finalize(session) == MPI_SUCCESS);
    CHECK(await_signal());
}

/* "messages": short messages are queued because the ring is full. "freed": their communicator is freed as well. */
static void messages(MPI_Session* session, int freed) {
    if (rank == 0) {
        leave_short_messages();
        if (freed) {
            MPI_Comm_free(&first);
        }
        signal_peer();
        end_first(session);
    } else {
        CHECK(await_signal());
        expect_short_messages();
        signal_peer();
    }
}

/* A buffered message is queued behind them, in the buffer of the process, which MPI_Session_finalize does not flush. */
static void buffered(MPI_Session* session) {
    static char buffer[1000 + MPI_BSEND_OVERHEAD];
    int number = 77;
    if (rank == 0) {
        MPI_Buffer_attach(buffer, sizeof buffer);
        leave_short_messages();
        MPI_Bsend(&number, 1, MPI_INT, 1, 2, first);
        signal_peer();
        end_first(session);
        void* back;
        int size;
        MPI_Buffer_detach(&back, &size);
    } else {
        CHECK(await_signal());
        expect_short_messages();
        number = 0;
        CHECK(MPI_Recv(&number, 1, MPI_INT, 0, 2, first, MPI_STATUS_IGNORE) == MPI_SUCCESS && number == 77);
        signal_peer();
    }
}

/* "large": a rendezvous message. */
static void large_message(MPI_Session* session) {
    if (rank == 0) {
        MPI_Request request;
        for (int i = 0; i < length; ++i) {
            large[i] = i;
        }
        MPI_Isend(large, length, MPI_INT, 1, 3, first, &request);
        MPI_Request_free(&request);
        signal_peer();
        end_first(session);
    } else {
        CHECK(await_signal());
        CHECK(MPI_Recv(large, length, MPI_INT, 0, 3, first, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        for (int i = 0; i < length; ++i) {
            CHECK(large[i] == i);
        }
        signal_peer();
    }
}

/* "acknowledgements": rank 0 has received what rank 1 sent; the acknowledgements are queued behind messages of the
 * other session. */
static void acknowledgements(MPI_Session* session) {
    MPI_Request synchronous, announced;
    int number = 5;
    if (rank == 0) {
        CHECK(await_signal());
        for (int i = 0; i < count; ++i) {
            out[i] = 3 * i;
            MPI_Isend(&out[i], 1, MPI_INT, 1, 1, second, &kept[i]);
        }
        CHECK(MPI_Recv(&number, 1, MPI_INT, 1, 4, first, MPI_STATUS_IGNORE) == MPI_SUCCESS && number == 5);
        CHECK(MPI_Recv(large, 0, MPI_INT, 1, 5, first, MPI_STATUS_IGNORE) == MPI_ERR_TRUNCATE); /* nothing to fetch */
        MPI_Comm_free(&first);
        signal_peer();
        end_first(session);
        MPI_Waitall(count, kept, MPI_STATUSES_IGNORE);
    } else {
        MPI_Issend(&number, 1, MPI_INT, 0, 4, first, &synchronous);
        MPI_Isend(large, length, MPI_INT, 0, 5, first, &announced);
        signal_peer();
        CHECK(await_signal());
        MPI_Wait(&synchronous, MPI_STATUS_IGNORE);
        MPI_Wait(&announced, MPI_STATUS_IGNORE);
        signal_peer();
        for (int i = 0; i < count; ++i) {
            CHECK(MPI_Recv(&in[i], 1, MPI_INT, 0, 1, second, MPI_STATUS_IGNORE) == MPI_SUCCESS && in[i] == 3 * i);
        }
    }
}

/* The message on the other communicator is received only after `end` has returned: `end` must not wait for it. */
static void beside_message(void (*end)(void*), void* what) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 0) {
        MPI_Isend(large, length, MPI_INT, 1, 6, second, &request);
    }
    end(what);
    if (rank == 1) {
        MPI_Irecv(large, length, MPI_INT, 0, 6, second, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void end_session_and_synchronise(void* session) {
    int token = 0;
    CHECK(MPI_Session_finalize(session) == MPI_SUCCESS);
    MPI_Sendrecv(&token, 1, MPI_INT, !rank, 7, &token, 1, MPI_INT, !rank, 7, second, MPI_STATUS_IGNORE);
}

static void disconnect_first(void* session) {
    (void)session;
    CHECK(MPI_Comm_disconnect(&first) == MPI_SUCCESS);
}

static void finalize_world(void* session) {
    (void)session;
    CHECK(MPI_Finalize() == MPI_SUCCESS);
}

/* A freed communicator with a receive that no message matches exists longer than its session. The program is erroneous;
 * the library must not crash. */
static void unmatched(MPI_Session* session) {
    static int never;
    MPI_Request request;
    MPI_Irecv(&never, 1, MPI_INT, !rank, 8, first, &request);
    MPI_Comm_free(&first);
    CHECK(MPI_Session_finalize(session) == MPI_SUCCESS);
    MPI_Cancel(&request);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    MPI_Barrier(second);
}

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "";
    const sigset_t set = the_signal();
    sigprocmask(SIG_BLOCK, &set, NULL); /* before any other thread starts */
    if (strcmp(what, "beside_finalize") == 0) {
        MPI_Init(NULL, NULL);
    }
    MPI_Session session = open_session(NULL), other = open_session(NULL);
    first = all_of(session, "first");
    second = all_of(other, "second");
    MPI_Comm_rank(second, &rank);
    exchange_pids();
    if (strcmp(what, "messages") == 0 || strcmp(what, "freed") == 0) {
        messages(&session, strcmp(what, "freed") == 0);
    } else if (strcmp(what, "buffered") == 0) {
        buffered(&session);
    } else if (strcmp(what, "large") == 0) {
        large_message(&session);
    } else if (strcmp(what, "acknowledgements") == 0) {
        acknowledgements(&session);
    } else if (strcmp(what, "beside_session") == 0) {
        beside_message(end_session_and_synchronise, &session);
    } else if (strcmp(what, "beside_disconnect") == 0) {
        beside_message(disconnect_first, NULL);
    } else if (strcmp(what, "beside_finalize") == 0) {
        beside_message(finalize_world, NULL);
    } else if (strcmp(what, "unmatched") == 0) {
        unmatched(&session);
    } else {
        CHECK(!"known argument");
    }
    if (session != MPI_SESSION_NULL) {
        MPI_Session_finalize(&session);
    }
    MPI_Comm_free(&second);
    MPI_Session_finalize(&other);
    return failures();
}
