/* SPDX-License-Identifier: BSD-3-Clause */
/* Performance variables of pml/ob1, cid, wait and coll/tuned for traffic that the program knows. Rank 0 sends to the
 * last rank; with one rank to itself. */
#include "tests/mpi_t/mpi_t.h"

#include <stdlib.h>

enum { eager_bytes = 100, large_bytes = 50000, messages = 20 };

static int rank, size, last;
static char data[large_bytes];
static MPI_T_pvar_session session;

enum { sent, sent_bytes, received, received_bytes, eager, counters };
static MPI_T_pvar_handle counting[counters];

/* Between start and stop there are no messages but those of exchange(): rank 0 begins only after the last rank has
 * started its handles, which a message that is not counted says. */
static void start(void) {
    if (rank == last && rank != 0) {
        CHECK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
        MPI_Send(NULL, 0, MPI_CHAR, 0, 99, MPI_COMM_WORLD);
    } else if (rank == 0) {
        if (rank != last) {
            MPI_Recv(NULL, 0, MPI_CHAR, last, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        CHECK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
    }
}

/* Returns when the last rank is here too. */
static void wait_for_last(void) {
    if (rank != last) {
        MPI_Recv(NULL, 0, MPI_CHAR, last, 98, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    for (int to = 0; to < last; ++to) {
        MPI_Send(NULL, 0, MPI_CHAR, to, 98, MPI_COMM_WORLD);
    }
}

static void stop(void) {
    CHECK(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
    wait_for_last();
}

static void alloc_counting(void) {
    counting[sent] = pvar_handle(session, "pml_ob1_messages_sent", MPI_T_PVAR_CLASS_COUNTER, NULL);
    counting[sent_bytes] = pvar_handle(session, "pml_ob1_bytes_sent", MPI_T_PVAR_CLASS_AGGREGATE, NULL);
    counting[received] = pvar_handle(session, "pml_ob1_messages_received", MPI_T_PVAR_CLASS_COUNTER, NULL);
    counting[received_bytes] = pvar_handle(session, "pml_ob1_bytes_received", MPI_T_PVAR_CLASS_AGGREGATE, NULL);
    counting[eager] = pvar_handle(session, "pml_ob1_eager_sent", MPI_T_PVAR_CLASS_COUNTER, NULL);
}

static void check_counts(int factor, unsigned long long count, unsigned long long bytes, unsigned long long eagerly) {
    const unsigned long long f = (unsigned long long)factor;
    if (rank == 0) {
        CHECK_EQUAL(read_pvar(session, counting[sent]), f * count);
        CHECK_EQUAL(read_pvar(session, counting[sent_bytes]), f * bytes);
        CHECK_EQUAL(read_pvar(session, counting[eager]), f * eagerly);
    }
    if (rank == last) {
        CHECK_EQUAL(read_pvar(session, counting[received]), f * count);
        CHECK_EQUAL(read_pvar(session, counting[received_bytes]), f * bytes);
    }
}

/* The messages in every form that starts one: blocking, nonblocking, persistent, synchronous, probed. */
static void exchange(void) {
    MPI_Request receives[messages], request;
    if (rank == last) {
        for (int i = 0; i < messages; ++i) {
            MPI_Irecv(data, i == 0 ? large_bytes : eager_bytes, MPI_CHAR, 0, i, MPI_COMM_WORLD, &receives[i]);
        }
    }
    if (rank == 0) {
        MPI_Isend(data, large_bytes, MPI_CHAR, last, 0, MPI_COMM_WORLD, &request);
        for (int i = 1; i < 6; ++i) {
            MPI_Send(data, eager_bytes, MPI_CHAR, last, i, MPI_COMM_WORLD);
        }
        for (int i = 6; i < 12; ++i) {
            MPI_Request small;
            MPI_Isend(data, eager_bytes, MPI_CHAR, last, i, MPI_COMM_WORLD, &small);
            MPI_Wait(&small, MPI_STATUS_IGNORE);
        }
        for (int i = 12; i < 15; ++i) {
            MPI_Ssend(data, eager_bytes, MPI_CHAR, last, i, MPI_COMM_WORLD);
        }
        for (int i = 15; i < messages; ++i) {
            MPI_Request small;
            MPI_Send_init(data, eager_bytes, MPI_CHAR, last, i, MPI_COMM_WORLD, &small);
            MPI_Start(&small);
            MPI_Wait(&small, MPI_STATUS_IGNORE);
            MPI_Request_free(&small);
        }
        if (rank != last) {
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
    if (rank == last) {
        MPI_Waitall(messages, receives, MPI_STATUSES_IGNORE);
        if (rank == 0) {
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
}

static const unsigned long long exchanged_bytes = large_bytes + (messages - 1) * eager_bytes;

static void counts_while_started(void) {
    alloc_counting();
    exchange(); /* not counted */
    check_counts(0, 0, 0, 0);
    MPI_T_pvar_handle rendezvous = pvar_handle(session, "pml_ob1_rendezvous_sent", MPI_T_PVAR_CLASS_COUNTER, NULL);
    const unsigned long long before = read_pvar(session, rendezvous);
    start();
    exchange();
    check_counts(1, messages, exchanged_bytes, messages - 1);
    if (rank == 0) {
        CHECK_EQUAL(read_pvar(session, rendezvous), before + 1);
    }
    stop();
    exchange(); /* not counted */
    check_counts(1, messages, exchanged_bytes, messages - 1);
    start();
    exchange();
    stop();
    check_counts(2, messages, exchanged_bytes, messages - 1);
    CHECK(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
    check_counts(0, 0, 0, 0);
    for (int i = 0; i < counters; ++i) {
        CHECK(MPI_T_pvar_handle_free(session, &counting[i]) == MPI_SUCCESS);
    }
    CHECK(MPI_T_pvar_handle_free(session, &rendezvous) == MPI_SUCCESS);
}

/* A message for which this process has no receive, and receives without a message. */
static void queues(void) {
    MPI_Comm comm;
    MPI_Request requests[3], send = MPI_REQUEST_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_T_pvar_handle unexpected = pvar_handle(session, "pml_ob1_unexpected_length", MPI_T_PVAR_CLASS_LEVEL, &comm);
    MPI_T_pvar_handle posted = pvar_handle(session, "pml_ob1_posted_length", MPI_T_PVAR_CLASS_LEVEL, &comm);
    MPI_T_pvar_handle bytes = pvar_handle(session, "pml_ob1_unexpected_bytes", MPI_T_PVAR_CLASS_LEVEL, NULL);
    MPI_T_pvar_handle highest =
        pvar_handle(session, "pml_ob1_unexpected_bytes_highest", MPI_T_PVAR_CLASS_HIGHWATERMARK, NULL);
    MPI_T_pvar_handle came = pvar_handle(session, "pml_ob1_unexpected_received", MPI_T_PVAR_CLASS_COUNTER, NULL);
    CHECK_EQUAL(read_pvar(session, unexpected), 0);
    CHECK_EQUAL(read_pvar(session, posted), 0);
    CHECK(MPI_T_pvar_reset(session, highest) == MPI_SUCCESS && MPI_T_pvar_reset(session, came) == MPI_SUCCESS);
    const unsigned long long at_first = read_pvar(session, bytes);
    CHECK_EQUAL(read_pvar(session, highest), at_first);
    wait_for_last();
    if (rank == 0) {
        for (int i = 0; i < 5; ++i) {
            MPI_Isend(data, eager_bytes, MPI_CHAR, last, i, comm, &send);
            if (i < 4) {
                MPI_Request_free(&send);
            }
        }
    }
    if (rank == last) {
        MPI_Probe(0, 4, comm, MPI_STATUS_IGNORE); /* now all five are here */
        CHECK_EQUAL(read_pvar(session, unexpected), 5);
        CHECK_EQUAL(read_pvar(session, came), 5);
        CHECK(read_pvar(session, bytes) >= at_first + 5 * eager_bytes);
        CHECK_EQUAL(read_pvar(session, highest), read_pvar(session, bytes));
        const unsigned long long most = read_pvar(session, highest);
        for (int i = 0; i < 5; ++i) {
            MPI_Recv(data, eager_bytes, MPI_CHAR, 0, i, comm, MPI_STATUS_IGNORE);
        }
        CHECK_EQUAL(read_pvar(session, unexpected), 0);
        CHECK_EQUAL(read_pvar(session, bytes), at_first);
        unsigned long long was = 0;
        CHECK(MPI_T_pvar_readreset(session, highest, &was) == MPI_SUCCESS && was == most);
        CHECK_EQUAL(read_pvar(session, highest), at_first);
    }
    wait_for_last(); /* so that no message of what follows comes earlier */
    if (send != MPI_REQUEST_NULL) {
        MPI_Wait(&send, MPI_STATUS_IGNORE);
    }
    MPI_Irecv(data, 1, MPI_CHAR, MPI_ANY_SOURCE, 100, comm, &requests[0]);
    MPI_Irecv(data, 1, MPI_CHAR, last, 100, comm, &requests[1]);
    MPI_Irecv(data, 1, MPI_CHAR, 0, 100, comm, &requests[2]);
    CHECK_EQUAL(read_pvar(session, posted), 3);
    for (int i = 0; i < 3; ++i) {
        MPI_Cancel(&requests[i]);
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        CHECK_EQUAL(read_pvar(session, posted), 2 - i);
    }
    MPI_Comm_free(&comm);
    unsigned long long value;
    CHECK_EQUAL(MPI_T_pvar_read(session, posted, &value), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQUAL(MPI_T_pvar_read(session, unexpected, &value), MPI_T_ERR_INVALID_HANDLE);
    MPI_T_pvar_handle* const all[] = {&unexpected, &posted, &bytes, &highest, &came};
    for (int i = 0; i < 5; ++i) {
        CHECK(MPI_T_pvar_handle_free(session, all[i]) == MPI_SUCCESS);
    }
}

/* Every rank has the same messages of the library: they are found by the difference. */
static void communicators(void) {
    MPI_T_pvar_handle made = pvar_handle(session, "cid_communicators", MPI_T_PVAR_CLASS_COUNTER, NULL);
    MPI_T_pvar_handle live = pvar_handle(session, "mpi_communicators", MPI_T_PVAR_CLASS_LEVEL, NULL);
    const unsigned long long made_before = read_pvar(session, made), live_before = read_pvar(session, live);
    MPI_Comm comms[3];
    for (int i = 0; i < 3; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    }
    CHECK_EQUAL(read_pvar(session, made), made_before + 3);
    CHECK_EQUAL(read_pvar(session, live), live_before + 3);
    for (int i = 0; i < 3; ++i) {
        MPI_Comm_free(&comms[i]);
    }
    CHECK_EQUAL(read_pvar(session, made), made_before + 3);
    CHECK_EQUAL(read_pvar(session, live), live_before);
}

/* One rank waits for a message that another one sends late. */
static void sleeping(void) {
    MPI_T_pvar_handle asleep = pvar_handle(session, "wait_asleep", MPI_T_PVAR_CLASS_TIMER, NULL);
    MPI_T_pvar_handle sleeps = pvar_handle(session, "wait_sleeps", MPI_T_PVAR_CLASS_COUNTER, NULL);
    if (rank == 0 && last != 0) {
        CHECK(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
        MPI_Recv(data, 1, MPI_CHAR, last, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(read_pvar(session, sleeps) >= 1);
        CHECK(read_pvar(session, asleep) >= 10 * 1000 * 1000);
    } else if (rank == last && last != 0) {
        const double until = MPI_Wtime() + 0.2; /* many times as long as a wait that does not sleep */
        while (MPI_Wtime() < until) {
        }
        MPI_Send(data, 1, MPI_CHAR, 0, 7, MPI_COMM_WORLD);
    }
}

/* The algorithm of MPI_Allreduce is one that the parameter names; other functions were not called. */
static void algorithms(void) {
    MPI_T_pvar_handle handle;
    MPI_T_enum items = MPI_T_ENUM_NULL;
    MPI_Comm world = MPI_COMM_WORLD;
    enum { bcast = 1, allreduce = 12 };
    int count = 0, chosen[64], length = 64, one = 1, sum = 0;
    char name[64];
    const int index = pvar_index("coll_tuned_algorithm", MPI_T_PVAR_CLASS_STATE);
    CHECK(MPI_T_pvar_handle_alloc(session, index, &world, &handle, &count) == MPI_SUCCESS && count <= 64);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, world);
    CHECK(MPI_T_pvar_start(session, handle) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_read(session, handle, chosen) == MPI_SUCCESS);
    CHECK(chosen[allreduce] == 0 && chosen[bcast] == 0);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, world);
    CHECK(MPI_T_pvar_read(session, handle, chosen) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_get_info(index, NULL, NULL, NULL, NULL, NULL, &items, NULL, NULL, NULL, NULL, NULL, NULL) ==
        MPI_SUCCESS);
    CHECK(MPI_T_enum_get_item(items, chosen[allreduce], NULL, name, &length) == MPI_SUCCESS);
    /* coll/tuned does not serve communicators of one process. */
    CHECK_TEXT(strcmp(name, size == 1 ? "none" : "linear") == 0, name);
    CHECK_EQUAL(chosen[bcast], 0);
    CHECK(MPI_T_pvar_stop(session, handle) == MPI_SUCCESS);
    const int before = chosen[allreduce];
    CHECK(MPI_T_pvar_read(session, handle, chosen) == MPI_SUCCESS && chosen[allreduce] == before);
}

static void write_number(const char* name, long long value) {
    CHECK_EQUAL(write_cvar(name, value), MPI_SUCCESS);
}

int main(int argc, char** argv) {
    int provided;
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    write_number("btl_sm_eager_limit", 4096); /* so that large_bytes are above it */
    write_number("btl_self_eager_limit", 4096);
    write_number("coll_tuned_allreduce", 2); /* linear */
    CHECK_OK(MPI_Init(&argc, &argv));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    last = size - 1;
    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    counts_while_started();
    MPI_Barrier(MPI_COMM_WORLD);
    queues();
    communicators();
    sleeping();
    algorithms();
    MPI_T_pvar_handle made = pvar_handle(session, "cid_communicators", MPI_T_PVAR_CLASS_COUNTER, NULL);
    const unsigned long long before = read_pvar(session, made);
    MPI_T_pvar_handle live = pvar_handle(session, "mpi_communicators", MPI_T_PVAR_CLASS_LEVEL, NULL);
    CHECK_OK(MPI_Finalize());
    /* A total stays, a level is 0. */
    CHECK_EQUAL(read_pvar(session, made), before);
    CHECK_EQUAL(read_pvar(session, live), 0);
    CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS);
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    return failures();
}
