/* SPDX-License-Identifier: BSD-3-Clause */
/* One process has no index left for the communicator of an MPI_Comm_dup that exchanges nothing. The other members have
 * the communicator, or get it later: each operation on it, pending or later, with any member, returns the error, whose
 * text names the process. They can free it, and use the index again. Arguments: "" or "threads". */
#include "tests/mpi_check/check.h"

#include <stdlib.h>
#include <string.h>

enum { most = 65536, large = 1 << 20, tag = 5 };

static int rank, size, victim;
static int next, previous; /* among the processes without the victim */
static MPI_Comm own[most];
static int count;
static MPI_Comm base; /* the parent; fewer than 255 children, so that no constructor waits for a new PGCID */
static char *sent, *received;

/* Leaves so many free indices. */
static void fill(int left) {
    while (MPI_Comm_dup(MPI_COMM_SELF, &own[count]) == MPI_SUCCESS) {
        ++count;
    }
    while (left-- > 0) {
        MPI_Comm_free(&own[--count]);
    }
}

/* A little, because it takes long to free all and to fill again. */
static void make_room(void) {
    for (int n = 0; n < 50; ++n) {
        MPI_Comm_free(&own[--count]);
    }
}

/* The error and its text, which is that of the last error. */
static void expect_refusal(int code, const char* what) {
    char text[MPI_MAX_ERROR_STRING], name[32];
    int length;
    if (class_of(code) != MPI_ERR_NO_SPACE) {
        check_equal(__FILE__, __LINE__, what, class_of(code), MPI_ERR_NO_SPACE);
        return;
    }
    MPI_Error_string(code, text, &length);
    snprintf(name, sizeof name, "process %d ", victim);
    if (rank != victim && (strstr(text, name) == NULL || strstr(text, "free") == NULL)) {
        check_failed(__FILE__, __LINE__, text);
    }
}

#define REFUSED(call) expect_refusal(call, #call)

/* No message of one communicator gets to another one, whatever index that has. */
static void use_new_communicators(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    for (int n = 0; n < 4; ++n) {
        MPI_Comm made;
        int sum = 0;
        CHECK_OK(MPI_Comm_dup(base, &made));
        CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, made));
        CHECK_EQUAL(sum, size * (size - 1) / 2);
        int found = 0;
        CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, made, &found, MPI_STATUS_IGNORE));
        CHECK(!found);
        MPI_Comm_free(&made);
    }
}

/* What a member without the victim does on the communicator after the refusal. */
static void use_refused(MPI_Comm comm) {
    MPI_Request request;
    MPI_Message message;
    MPI_Comm child = MPI_COMM_NULL;
    int value = 0, flag;
    REFUSED(MPI_Send(&value, 1, MPI_INT, next, tag, comm));
    REFUSED(MPI_Ssend(&value, 1, MPI_INT, victim, tag, comm));
    REFUSED(MPI_Send(sent, large, MPI_CHAR, next, tag, comm));
    REFUSED(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, tag, comm, MPI_STATUS_IGNORE));
    REFUSED(MPI_Probe(next, tag, comm, MPI_STATUS_IGNORE));
    REFUSED(MPI_Iprobe(next, tag, comm, &flag, MPI_STATUS_IGNORE));
    REFUSED(MPI_Mprobe(next, tag, comm, &message, MPI_STATUS_IGNORE));
    REFUSED(MPI_Improbe(next, tag, comm, &flag, &message, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, next, tag, comm, &request));
    REFUSED(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Isend(&value, 1, MPI_INT, next, tag, comm, &request));
    REFUSED(MPI_Wait(&request, MPI_STATUS_IGNORE));
    REFUSED(MPI_Barrier(comm));
    REFUSED(MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_SUM, comm));
    CHECK_OK(MPI_Ibcast(&value, 1, MPI_INT, next, comm, &request));
    REFUSED(MPI_Wait(&request, MPI_STATUS_IGNORE));
    REFUSED(MPI_Comm_dup(comm, &child));
    REFUSED(MPI_Comm_split(comm, 0, 0, &child));
}

static void receive_from_others(void) {
    int from;
    for (int n = 1; n < size; ++n) {
        MPI_Recv(&from, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* All members but the victim call first; the victim calls when they wait, or have sent each other messages. */
static void wait_for_victim(void (*before)(MPI_Comm), void (*operation)(MPI_Comm)) {
    MPI_Comm made = MPI_COMM_NULL;
    if (rank != victim) {
        CHECK_OK(MPI_Comm_dup(base, &made));
        before(made);
        MPI_Send(&rank, 1, MPI_INT, victim, tag, MPI_COMM_WORLD);
        operation(made);
        use_refused(made);
        CHECK_OK(MPI_Comm_free(&made));
        CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &made)); /* perhaps with the same index */
        CHECK_OK(MPI_Barrier(made));
        MPI_Comm_free(&made);
    } else {
        fill(0);
        receive_from_others();
        REFUSED(MPI_Comm_dup(base, &made));
        make_room();
    }
    use_new_communicators();
}

static void nothing(MPI_Comm comm) {
    (void)comm;
}

/* The others know each other's indices. */
static void exchange(MPI_Comm comm) {
    for (int n = 0; n < 20; ++n) {
        int value = 0;
        CHECK_OK(MPI_Sendrecv(&rank, 1, MPI_INT, next, n, &value, 1, MPI_INT, previous, n, comm, MPI_STATUS_IGNORE));
        CHECK_EQUAL(value, previous);
    }
}

static void barrier(MPI_Comm comm) {
    REFUSED(MPI_Barrier(comm));
}

static void receive_from_victim(MPI_Comm comm) {
    int value;
    REFUSED(MPI_Recv(&value, 1, MPI_INT, victim, tag, comm, MPI_STATUS_IGNORE));
}

static void receive_from_another(MPI_Comm comm) {
    int value;
    REFUSED(MPI_Recv(&value, 1, MPI_INT, next, tag, comm, MPI_STATUS_IGNORE));
}

static void receive_from_any(MPI_Comm comm) {
    int value;
    REFUSED(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
}

static void send_large_to_victim(MPI_Comm comm) {
    REFUSED(MPI_Send(sent, large, MPI_CHAR, victim, tag, comm));
}

static void send_synchronous_to_another(MPI_Comm comm) {
    int value = 0;
    REFUSED(MPI_Ssend(&value, 1, MPI_INT, next, tag, comm));
}

static void probe(MPI_Comm comm) {
    REFUSED(MPI_Probe(next, tag, comm, MPI_STATUS_IGNORE));
}

static void matched_probe(MPI_Comm comm) {
    MPI_Message message;
    REFUSED(MPI_Mprobe(MPI_ANY_SOURCE, tag, comm, &message, MPI_STATUS_IGNORE));
}

/* Operations of all kinds at once. Each ends, with the error or, if it had matched, without one. */
static void many_requests(MPI_Comm comm) {
    enum { kinds = 8 };
    MPI_Request requests[kinds];
    MPI_Status statuses[kinds];
    int value[kinds] = {0};
    MPI_Irecv(&value[0], 1, MPI_INT, victim, tag, comm, &requests[0]);
    MPI_Irecv(received, large, MPI_CHAR, previous, tag + 1, comm, &requests[1]);
    MPI_Issend(&value[2], 1, MPI_INT, victim, tag, comm, &requests[2]);
    MPI_Issend(&value[3], 1, MPI_INT, next, tag, comm, &requests[3]);
    MPI_Isend(sent, large, MPI_CHAR, next, tag + 1, comm, &requests[4]);
    MPI_Isend(sent, large, MPI_CHAR, victim, tag, comm, &requests[5]);
    MPI_Recv_init(&value[6], 1, MPI_INT, next, tag + 2, comm, &requests[6]);
    MPI_Send_init(&value[7], 1, MPI_INT, next, tag + 3, comm, &requests[7]);
    MPI_Startall(2, requests + 6);
    MPI_Waitall(kinds, requests, statuses);
    REFUSED(MPI_Startall(2, requests + 6) == MPI_SUCCESS ? MPI_Wait(&requests[6], statuses) : MPI_ERR_OTHER);
    REFUSED(MPI_Wait(&requests[7], statuses));
    MPI_Request_free(&requests[6]);
    MPI_Request_free(&requests[7]);
    for (int n = 0; n < kinds - 1; ++n) {
        const int code = statuses[n].MPI_ERROR;
        CHECK(class_of(code) == MPI_ERR_NO_SPACE || ((n == 1 || n == 4) && code == MPI_SUCCESS));
    }
}

static void cancelled(MPI_Comm comm) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int value = 0;
    MPI_Isend(sent, large, MPI_CHAR, victim, tag, comm, &requests[0]);
    MPI_Issend(&value, 1, MPI_INT, next, tag, comm, &requests[1]);
    MPI_Cancel(&requests[0]);
    MPI_Cancel(&requests[1]);
    MPI_Waitall(2, requests, statuses);
    REFUSED(MPI_Barrier(comm));
}

/* Handles are freed while their operations wait. */
static void freed_requests(MPI_Comm comm) {
    MPI_Request request;
    MPI_Irecv(received, 1, MPI_CHAR, victim, tag, comm, &request);
    MPI_Request_free(&request);
    MPI_Isend(sent, large, MPI_CHAR, victim, tag, comm, &request);
    MPI_Request_free(&request);
    REFUSED(MPI_Barrier(comm));
}

/* A communicator that the others have derived from the refused one before. */
static void use_child(MPI_Comm comm) {
    MPI_Comm child, grandchild;
    MPI_Comm_dup(comm, &child);
    MPI_Comm_dup(child, &grandchild);
    REFUSED(MPI_Barrier(grandchild));
    REFUSED(MPI_Barrier(child));
    CHECK_OK(MPI_Comm_free(&grandchild));
    CHECK_OK(MPI_Comm_free(&child));
}

/* Collectives that wait, among them one in which a process only receives, and one that is started again. */
static void collectives(MPI_Comm comm) {
    enum { kinds = 4 };
    MPI_Request requests[kinds];
    int value[kinds] = {0};
    CHECK_OK(MPI_Ibarrier(comm, &requests[0]));
    CHECK_OK(MPI_Ibcast(&value[0], 1, MPI_INT, victim, comm, &requests[1]));
    CHECK_OK(MPI_Iallreduce(&rank, &value[1], 1, MPI_INT, MPI_SUM, comm, &requests[2]));
    CHECK_OK(MPI_Bcast_init(&value[2], 1, MPI_INT, victim, comm, MPI_INFO_NULL, &requests[3]));
    CHECK_OK(MPI_Start(&requests[3]));
    for (int n = 0; n < kinds; ++n) {
        REFUSED(MPI_Wait(&requests[n], MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Start(&requests[3]));
    REFUSED(MPI_Wait(&requests[3], MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Request_free(&requests[3]));
}

/* The victim calls first: the constructors of the others return the error. */
static void victim_first(int nonblocking) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request request;
    if (rank == victim) {
        fill(0);
    } else { /* behind the refusal */
        MPI_Recv(NULL, 0, MPI_INT, victim, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    int code = nonblocking ? MPI_Comm_idup(base, &made, &request) : MPI_Comm_dup(base, &made);
    if (nonblocking && code == MPI_SUCCESS) {
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    REFUSED(code);
    CHECK(made == MPI_COMM_NULL);
    if (rank == victim) {
        for (int to = 0; to < size; ++to) {
            if (to != rank) {
                MPI_Send(NULL, 0, MPI_INT, to, tag, MPI_COMM_WORLD);
            }
        }
        make_room();
    }
    use_new_communicators();
}

/* With left == 1 the victim has an index for the intercommunicator, and none for its local_comm. The second time the
 * victim calls when the others have the communicator. */
static void duplicate_inter(int left) {
    MPI_Comm half, inter, made = MPI_COMM_NULL;
    const int first = size / 2;
    MPI_Comm_split(MPI_COMM_WORLD, rank < first, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < first ? first : 0, tag, &inter);
    if (rank == victim) {
        fill(left);
    }
    for (int n = 0; n < 2; ++n) {
        if (n == 1 && rank == victim) {
            receive_from_others();
        }
        int code = MPI_Comm_dup(inter, &made);
        if (code == MPI_SUCCESS) {
            MPI_Request request;
            CHECK(rank != victim);
            CHECK_OK(MPI_Ibarrier(made, &request));
            if (n == 1) {
                int complete = 0;
                for (int tests = 0; tests < 1000 && !complete; ++tests) {
                    MPI_Test(&request, &complete, MPI_STATUS_IGNORE);
                }
                CHECK(!complete);
                MPI_Send(&rank, 1, MPI_INT, victim, tag, MPI_COMM_WORLD);
            }
            REFUSED(MPI_Wait(&request, MPI_STATUS_IGNORE));
            REFUSED(MPI_Barrier(made));
            CHECK_OK(MPI_Comm_free(&made));
        } else {
            CHECK(n == 0 || rank == victim);
            CHECK_CLASS(code, MPI_ERR_NO_SPACE);
        }
    }
    if (rank == victim) {
        make_room();
    }
    CHECK_OK(MPI_Comm_dup(inter, &made));
    CHECK_OK(MPI_Barrier(made));
    MPI_Comm_free(&made);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    use_new_communicators();
}

/* Nothing is used: the refusal comes to a communicator that no process uses, or that is gone. */
static void freed_at_once(void) {
    MPI_Comm made = MPI_COMM_NULL;
    if (rank == victim) {
        fill(0);
    }
    if (MPI_Comm_dup(base, &made) == MPI_SUCCESS) {
        CHECK(rank != victim);
        CHECK_OK(MPI_Comm_free(&made));
    }
    if (rank == victim) {
        make_room();
    }
    use_new_communicators();
}

/* The child numbers of all members advance, also where a constructor gets the PGCID of the next block. */
static void next_block(void) {
    MPI_Comm parent;
    CHECK_OK(MPI_Comm_dup(base, &parent));
    for (int n = 0; n < 260; ++n) {
        if (n == 250 && rank == victim) {
            fill(0);
        }
        MPI_Comm made;
        int code = MPI_Comm_dup(parent, &made);
        if (code == MPI_SUCCESS && n >= 250) {
            CHECK(rank != victim);
            code = MPI_Barrier(made);
            CHECK_OK(MPI_Comm_free(&made));
        } else if (code == MPI_SUCCESS) {
            CHECK_OK(MPI_Comm_free(&made));
        }
        if (n >= 250) {
            CHECK_CLASS(code, MPI_ERR_NO_SPACE);
        }
    }
    make_room();
    MPI_Comm kept = base;
    base = parent;
    use_new_communicators();
    base = kept;
    MPI_Comm_free(&parent);
}

/* All processes lack an index. */
static void all_refuse(void) {
    MPI_Comm made;
    fill(0);
    CHECK_CLASS(MPI_Comm_dup(base, &made), MPI_ERR_NO_SPACE);
    make_room();
    use_new_communicators();
}

static void with_victim(int which) {
    void (*const operations[])(MPI_Comm) = {barrier, receive_from_victim, receive_from_another, receive_from_any,
        send_large_to_victim, send_synchronous_to_another, probe, matched_probe, many_requests, cancelled,
        freed_requests, use_child, collectives};
    victim = which;
    next = (rank + 1) % size == victim ? (rank + 2) % size : (rank + 1) % size;
    previous = (rank + size - 1) % size == victim ? (rank + size - 2) % size : (rank + size - 1) % size;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &base));
    for (unsigned n = 0; n < sizeof operations / sizeof operations[0]; ++n) {
        wait_for_victim(n % 2 == 0 ? exchange : nothing, operations[n]);
    }
    wait_for_victim(nothing, barrier);
    wait_for_victim(exchange, use_child);
    wait_for_victim(nothing, collectives);
    victim_first(0);
    victim_first(1);
    duplicate_inter(0);
    duplicate_inter(1);
    freed_at_once();
    all_refuse();
    next_block();
    MPI_Comm_free(&base);
    while (count > 0) {
        MPI_Comm_free(&own[--count]);
    }
}

int main(int argc, char** argv) {
    int provided;
    MPI_Init_thread(
        &argc, &argv, argc > 1 && strcmp(argv[1], "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    sent = calloc(large, 1);
    received = calloc(large, 1);
    with_victim(size - 1);
    if (size > 2) {
        with_victim(0);
        with_victim(1);
    }
    free(sent);
    free(received);
    MPI_Finalize();
    return failures();
}
