/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs with mistakes that parameter mpi_check finds: wrong NAME. messages_test.py has the texts that a user reads;
 * a comment such as "line: first" is how it refers to a line. */
#include "tests/mpi_check/check.h"

#include <stdlib.h>
#include <string.h>

#define FUNCTION __attribute__((noinline)) static void

static int rank;

/* Leaks. */

FUNCTION empty_op(void* in, void* inout, int* count, MPI_Datatype* type) {
    (void)in, (void)inout, (void)count, (void)type;
}

FUNCTION empty_handler(MPI_Comm* comm, int* code, ...) {
    (void)comm, (void)code;
}

FUNCTION leak_objects(void) {
    MPI_Comm comm, later, parts[3];
    MPI_Request request;
    MPI_Group group;
    MPI_Datatype type, copy;
    MPI_Op op;
    MPI_Info info;
    MPI_Errhandler handler;
    MPI_Win win, freed;
    void* base;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &freed);
    MPI_Win_free(&freed);
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win); /* line: window */
    MPI_Win_set_name(win, "left");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm); /* line: dup */
    MPI_Comm_set_name(comm, "lost");
    for (int i = 0; i < 3; ++i) {
        MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &parts[i]); /* line: split */
    }
    MPI_Comm_free(&parts[1]);
    MPI_Comm_idup(MPI_COMM_WORLD, &later, &request); /* line: idup */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_group(MPI_COMM_WORLD, &group); /* line: group */
    MPI_Type_contiguous(3, MPI_INT, &type); /* line: contiguous */
    MPI_Type_dup(type, &copy);              /* line: type_dup */
    MPI_Type_free(&type);
    MPI_Op_create(empty_op, 1, &op);                     /* line: op */
    MPI_Info_create(&info);                              /* line: info */
    MPI_Comm_create_errhandler(empty_handler, &handler); /* line: handler */
}

FUNCTION leak_requests(void) {
    static int data[4];
    static MPI_Comm duplicate;
    MPI_Request requests[4], other;
    for (int i = 0; i < 2; ++i) {
        MPI_Irecv(&data[i], 1, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &requests[i]); /* line: irecv */
    }
    MPI_Send_init(&data[2], 1, MPI_INT, rank, 9, MPI_COMM_SELF, &other);           /* line: send_init */
    MPI_Bcast_init(&data[2], 1, MPI_INT, 0, MPI_COMM_SELF, MPI_INFO_NULL, &other); /* line: bcast_init */
    MPI_Ibarrier(MPI_COMM_SELF, &other);                                           /* line: ibarrier */
    MPI_Comm_idup(MPI_COMM_SELF, &duplicate, &other);                              /* line: idup_request */
    MPI_Grequest_start(NULL, NULL, NULL, NULL, &other);                            /* line: grequest */
    MPI_Grequest_start(NULL, NULL, NULL, NULL, &other);
    MPI_Grequest_complete(other);
    MPI_Wait(&other, MPI_STATUS_IGNORE);
    MPI_Isend(&data[3], 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[2]);
    MPI_Irecv(&data[2], 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[3]);
    MPI_Waitall(2, &requests[2], MPI_STATUSES_IGNORE);
}

FUNCTION leak_in_session(void) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://SELF", &group);                           /* line: from_pset */
    MPI_Comm_create_from_group(group, "tag", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm); /* line: from_group */
    MPI_Comm_set_name(comm, "of the session");
    MPI_Session_finalize(&session);
}

/* Requests that are complete from the beginning, or have several messages. */
FUNCTION leak_simple_requests(void) {
    static char memory[1024];
    static int data[4], received[4];
    MPI_Request requests[5];
    MPI_Buffer_attach(memory, sizeof memory);
    MPI_Ibsend(data, 4, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[0]); /* line: ibsend */
    MPI_Recv(received, 4, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Isendrecv(data, 1, MPI_INT, 0, 2, received, 1, MPI_INT, 0, 2, MPI_COMM_SELF, &requests[3]); /* line: both */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(data, 4, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[1]);     /* line: to_null */
    MPI_Irecv(received, 4, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[2]); /* line: from_null */
    for (int i = 0; i < 3; ++i) {
        MPI_Isend(data, 4, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[4]);
        MPI_Wait(&requests[4], MPI_STATUS_IGNORE);
        MPI_Isendrecv_replace(data, 1, MPI_INT, 0, 2, 0, 2, MPI_COMM_SELF, &requests[4]);
        MPI_Wait(&requests[4], MPI_STATUS_IGNORE);
        MPI_Ibsend(data, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[4]);
        MPI_Recv(received, 4, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        MPI_Wait(&requests[4], MPI_STATUS_IGNORE);
    }
}

/* Collectives. */

static int got = -1;

FUNCTION expect(int code, int error_class) {
    got = class_of(code);
    CHECK_EQUAL(got, error_class);
}

FUNCTION other_function(void) {
    int value = 0, sum = 0;
    if (rank == 0) {
        expect(MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_OTHER); /* line: bcast */
    } else {
        expect(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_OTHER); /* line: allreduce */
    }
}

FUNCTION other_root(void) {
    int value = 0;
    expect(MPI_Bcast(&value, 1, MPI_INT, rank == 1, MPI_COMM_WORLD), MPI_ERR_ROOT); /* line: root */
}

FUNCTION other_op(void) {
    double value = 0, sum = 0;
    expect(MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, rank == 0 ? MPI_SUM : MPI_MAX, MPI_COMM_WORLD),
        MPI_ERR_OP); /* line: after_op */
}

FUNCTION other_count(void) {
    int values[4] = {0}, sums[4];
    expect(MPI_Reduce(values, sums, rank == 2 ? 3 : 4, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD),
        MPI_ERR_COUNT); /* line: count */
}

FUNCTION other_type(void) {
    float values[4] = {0};
    expect(MPI_Bcast(values, 4, rank == 1 ? MPI_FLOAT : MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_TYPE); /* line: type */
}

FUNCTION other_form(void) {
    MPI_Request request;
    if (rank == 0) {
        expect(MPI_Barrier(MPI_COMM_WORLD), MPI_ERR_OTHER); /* line: barrier */
    } else {
        MPI_Ibarrier(MPI_COMM_WORLD, &request); /* line: other_ibarrier */
        expect(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
    }
}

FUNCTION other_nonblocking(void) {
    MPI_Request request;
    int value = 0;
    if (rank == 0) {
        MPI_Ibcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, &request); /* line: ibcast */
    } else {
        MPI_Ibarrier(MPI_COMM_WORLD, &request); /* line: not_ibcast */
    }
    expect(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
    /* The communicator is as before. */
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Ibarrier(MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

FUNCTION other_persistent(void) {
    MPI_Request request;
    int value = 0;
    MPI_Bcast_init(&value, 1, MPI_INT, rank, MPI_COMM_WORLD, MPI_INFO_NULL, &request); /* line: bcast_roots */
    for (int i = 0; i < 2; ++i) {
        MPI_Start(&request);
        expect(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_ROOT);
    }
    MPI_Request_free(&request);
}

FUNCTION other_counts(void) {
    int value = 0, values[8], counts[2] = {1, 1}, displacements[2] = {0, 4};
    expect(MPI_Gatherv(&value, rank == 1 ? 0 : 1, MPI_INT, values, counts, displacements, MPI_INT, 0, MPI_COMM_WORLD),
        MPI_ERR_COUNT); /* line: after_gatherv */
    int out[2] = {0}, in[2], sizes[2] = {1, 1}, places[2] = {0, 1};
    sizes[0] = rank == 1 ? 2 : 1;
    places[1] = 0;
    expect(MPI_Alltoallv(out, sizes, places, MPI_INT, in, counts, displacements, MPI_INT, MPI_COMM_WORLD),
        MPI_ERR_COUNT); /* line: after_alltoallv */
}

/* Two members that are neighbours of each other on both sides of a ring. */
static MPI_Comm ring(void) {
    MPI_Comm made;
    const int sizes[1] = {2}, periods[1] = {1};
    MPI_Cart_create(MPI_COMM_WORLD, 1, sizes, periods, 0, &made);
    MPI_Comm_set_name(made, "ring");
    return made;
}

FUNCTION neighbor_function(void) {
    MPI_Comm comm = ring();
    int out[2] = {0}, in[2];
    if (rank == 0) {
        expect(MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, comm), MPI_ERR_OTHER); /* line: to_all */
    } else {
        expect(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm), MPI_ERR_OTHER); /* line: to_each */
    }
    MPI_Comm_free(&comm);
}

/* What rank 1 sends up has two values; rank 0 receives one from below. */
FUNCTION neighbor_counts(void) {
    MPI_Comm comm = ring();
    MPI_Request request;
    int out[4] = {0}, in[4], ones[2] = {1, 1}, sizes[2] = {1, rank == 1 ? 2 : 1}, places[2] = {0, 1};
    MPI_Ineighbor_alltoallv(out, sizes, places, MPI_INT, in, ones, places, MPI_INT, comm, &request); /* line: edges */
    expect(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
    MPI_Comm_free(&comm);
}

FUNCTION other_idup(void) {
    MPI_Comm made;
    MPI_Request request;
    int value = 0;
    if (rank == 0) {
        MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
    }
    expect(MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_OTHER); /* line: after_idup */
    if (rank == 1) {
        MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&made);
}

FUNCTION other_constructor(void) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Win window = MPI_WIN_NULL;
    MPI_Group all;
    const int sizes[1] = {2}, periods[1] = {0};
    int value = 0, *memory;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    if (rank == 0) {
        expect(MPI_Comm_create(MPI_COMM_WORLD, all, &made), MPI_ERR_OTHER);                  /* line: create */
        expect(MPI_Cart_create(MPI_COMM_WORLD, 1, sizes, periods, 0, &made), MPI_ERR_OTHER); /* line: cart */
        expect(
            MPI_Win_create(&value, 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window), MPI_ERR_OTHER); /* line: win_create */
        expect(MPI_Comm_dup(MPI_COMM_WORLD, &made), MPI_ERR_OTHER); /* line: dup_instead */
    } else {
        expect(MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_OTHER); /* line: bcast_instead */
        expect(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &made), MPI_ERR_OTHER);      /* line: split_instead */
        expect(MPI_Win_allocate_c(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window),
            MPI_ERR_OTHER);                                 /* line: win_allocate */
        expect(MPI_Barrier(MPI_COMM_WORLD), MPI_ERR_OTHER); /* line: barrier_instead */
    }
    CHECK(made == MPI_COMM_NULL && window == MPI_WIN_NULL);
    MPI_Group_free(&all);
}

/* Types. */

FUNCTION wrong_type(void) {
    int data[4] = {1, 2, 3, 4};
    float received[4];
    if (rank == 0) {
        MPI_Send(data, 4, MPI_INT, 1, 5, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Status status;
        expect(MPI_Recv(received, 4, MPI_FLOAT, 0, 5, MPI_COMM_WORLD, &status), MPI_ERR_TYPE); /* line: recv */
        int count = 0;
        MPI_Get_count(&status, MPI_FLOAT, &count);
        CHECK_EQUAL(count, 4);
    }
}

/* The messages are sent as packed data. */
FUNCTION wrong_buffered(void) {
    static char memory[4096];
    int data[4] = {1, 2, 3, 4};
    float received[4] = {0};
    MPI_Request request;
    if (rank == 0) {
        MPI_Buffer_attach(memory, sizeof memory);
        MPI_Bsend(data, 4, MPI_INT, 1, 5, MPI_COMM_WORLD);
        MPI_Ibsend(data, 3, MPI_INT, 1, 5, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Bsend(data, 2, MPI_INT, 1, 6, MPI_COMM_WORLD); /* as it should be */
        MPI_Buffer_detach(&received, &data[0]);
    } else if (rank == 1) {
        expect(
            MPI_Recv(received, 4, MPI_FLOAT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_TYPE); /* line: bsent */
        expect(
            MPI_Recv(received, 4, MPI_FLOAT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_TYPE); /* line: ibsent */
        expect(MPI_Recv(data, 4, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_SUCCESS);
    }
}

FUNCTION wrong_replace(void) {
    int data[4] = {1, 2, 3, 4};
    float received[4] = {0};
    MPI_Request request;
    if (rank == 0) {
        MPI_Sendrecv_replace(data, 4, MPI_INT, 1, 5, MPI_PROC_NULL, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Isendrecv_replace(data, 2, MPI_INT, 1, 6, MPI_PROC_NULL, 6, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        expect(MPI_Sendrecv_replace(received, 4, MPI_FLOAT, MPI_PROC_NULL, 5, 0, 5, MPI_COMM_WORLD, /* line: replace */
                   MPI_STATUS_IGNORE),
            MPI_ERR_TYPE);
        MPI_Isendrecv_replace(
            received, 4, MPI_FLOAT, MPI_PROC_NULL, 6, 0, 6, MPI_COMM_WORLD, &request); /* line: ireplace */
        expect(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    }
}

/* Nothing is transferred, and each start ends with the error on both sides. */
FUNCTION wrong_partitions(void) {
    int data[8] = {1};
    float received[8] = {0};
    MPI_Request request;
    if (rank == 0) {
        MPI_Psend_init(data, 4, 2, MPI_INT, 1, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    } else {
        MPI_Precv_init(
            received, 2, 4, MPI_FLOAT, 0, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &request); /* line: precv_float */
    }
    for (int i = 0; i < 2; ++i) {
        MPI_Start(&request);
        if (rank == 0) {
            MPI_Pready_range(0, 3, request);
        }
        expect(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    }
    CHECK(received[0] == 0);
    MPI_Request_free(&request);
    if (rank == 0) { /* other partitions of the same types */
        MPI_Psend_init(data, 4, 2, MPI_INT, 1, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready_range(0, 3, request);
    } else {
        MPI_Precv_init(received, 1, 8, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
    }
    expect(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_Request_free(&request);
}

FUNCTION wrong_order(void) {
    struct {
        int i;
        double d;
    } one = {1, 2}, other;
    int lengths[2] = {1, 1};
    MPI_Aint places[2] = {0, (char*)&one.d - (char*)&one};
    MPI_Datatype in_order[2] = {MPI_INT, MPI_DOUBLE}, in_other_order[2] = {MPI_DOUBLE, MPI_INT}, type;
    MPI_Aint other_places[2] = {places[1], places[0]};
    MPI_Request request;
    if (rank == 0) {
        MPI_Type_create_struct(2, lengths, places, in_order, &type);
        MPI_Type_commit(&type);
        MPI_Isend(&one, 1, type, 1, 7, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Type_free(&type);
    } else if (rank == 1) {
        MPI_Type_create_struct(2, lengths, other_places, in_other_order, &type);
        MPI_Type_commit(&type);
        MPI_Irecv(&other, 1, type, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request); /* line: irecv_struct */
        MPI_Type_free(&type);
        expect(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    }
}

FUNCTION wrong_bytes(void) {
    long long value = 0;
    if (rank == 0) {
        MPI_Request request;
        MPI_Ssend_init(&value, 1, MPI_LONG_LONG, 1, 0, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    } else if (rank == 1) {
        MPI_Message message;
        MPI_Status status;
        int count = 0;
        MPI_Mprobe(0, 0, MPI_COMM_WORLD, &message, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        CHECK_EQUAL(count, 8);
        expect(MPI_Mrecv(&value, 8, MPI_BYTE, &message, &status), MPI_ERR_TYPE); /* line: mrecv */
    }
}

/* Buffers. */

FUNCTION changed_send(void) {
    MPI_Request request;
    int data[4] = {0}, received[4];
    MPI_Irecv(received, 4, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
    MPI_Request sending;
    MPI_Isend(data, 4, MPI_INT, 0, 0, MPI_COMM_SELF, &sending); /* line: changed */
    data[1] = 0x17;
    __asm__ volatile("" ::: "memory");
    MPI_Wait(&sending, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

FUNCTION write_to(char* memory) {
    memory[70000] = 1; /* line: write */
    __asm__ volatile("" ::: "memory");
}

FUNCTION changed_long_send(void) {
    enum { size = 1 << 20 };
    MPI_Request requests[2];
    char* data = calloc(size, 1);
    char* received = malloc(size);
    MPI_Isend(data, size, MPI_CHAR, 0, 3, MPI_COMM_SELF, &requests[0]); /* line: long_send */
    write_to(data);
    MPI_Irecv(received, size, MPI_CHAR, 0, 3, MPI_COMM_SELF, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK_EQUAL(data[70000], 1);
    memset(data, 2, size);
    free(data);
    free(received);
}

FUNCTION shared_receive(void) {
    int data[8] = {0}, values[4] = {0};
    MPI_Request requests[2];
    MPI_Irecv(data, 4, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[0]);     /* line: first_recv */
    MPI_Irecv(data + 3, 4, MPI_INT, 0, 2, MPI_COMM_SELF, &requests[1]); /* line: second_recv */
    MPI_Send(values, 4, MPI_INT, 0, 1, MPI_COMM_SELF);
    MPI_Send(values, 4, MPI_INT, 0, 2, MPI_COMM_SELF);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

FUNCTION sent_while_received(void) {
    int data[4] = {0};
    MPI_Request request;
    MPI_Irecv(data, 4, MPI_INT, 0, 1, MPI_COMM_SELF, &request); /* line: under_way */
    MPI_Send(data, 4, MPI_INT, 0, 1, MPI_COMM_SELF);            /* line: send_same */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

FUNCTION changed_partition(void) {
    int data[8] = {0}, received[8];
    MPI_Request requests[2];
    MPI_Psend_init(data, 4, 2, MPI_INT, 0, 6, MPI_COMM_SELF, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(received, 2, 4, MPI_INT, 0, 6, MPI_COMM_SELF, MPI_INFO_NULL, &requests[1]);
    for (int i = 0; i < 2; ++i) {
        MPI_Startall(2, requests);
        for (int partition = 0; partition < 4; ++partition) {
            data[2 * partition] = partition;    /* it is not ready yet */
            MPI_Pready(partition, requests[0]); /* line: pready */
        }
        if (i == 1) {
            data[5] = 0x17;
            __asm__ volatile("" ::: "memory");
        }
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        data[5] = 0;
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

FUNCTION early_partition(void) {
    int data[4] = {0}, received[4] = {0}, flag = 0;
    MPI_Request requests[2], other;
    MPI_Psend_init(data, 2, 2, MPI_INT, 0, 6, MPI_COMM_SELF, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(received, 2, 2, MPI_INT, 0, 6, MPI_COMM_SELF, MPI_INFO_NULL, &requests[1]); /* line: precv */
    MPI_Startall(2, requests);
    MPI_Isend(received, 2, MPI_INT, 0, 7, MPI_COMM_SELF, &other); /* line: early_use */
    MPI_Pready_range(0, 1, requests[0]);
    while (!flag) {
        MPI_Parrived(requests[1], 1, &flag);
    }
    MPI_Send(received + 2, 0, MPI_INT, MPI_PROC_NULL, 7, MPI_COMM_SELF);
    MPI_Recv(received + 2, 2, MPI_INT, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE); /* it has arrived */
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Wait(&other, MPI_STATUS_IGNORE);
}

FUNCTION changed_neighbor_send(void) {
    MPI_Comm comm;
    MPI_Request requests[2];
    const int sizes[1] = {1}, periods[1] = {1};
    int out[2] = {0}, in[2], sum = 0, value = 1;
    MPI_Cart_create(MPI_COMM_SELF, 1, sizes, periods, 0, &comm);
    MPI_Comm_set_name(comm, "ring");
    MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm, &requests[0]); /* line: to_neighbors */
    out[1] = 0x17;
    __asm__ volatile("" ::: "memory");
    MPI_Iallreduce(&value, &in[1], 1, MPI_INT, MPI_SUM, comm, &requests[1]); /* line: sum_into */
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
}

FUNCTION changed_persistent_collective(void) {
    int sent[2] = {0}, received[2], other = 0;
    MPI_Request all, request;
    MPI_Allgather_init(sent, 2, MPI_INT, received, 2, MPI_INT, MPI_COMM_SELF, MPI_INFO_NULL, &all);
    for (int i = 0; i < 2; ++i) { /* between the starts the buffers are the program's */
        sent[0] = i;
        MPI_Irecv(received, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &request);
        MPI_Send(&other, 1, MPI_INT, 0, 9, MPI_COMM_SELF);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Start(&all);
        MPI_Wait(&all, MPI_STATUS_IGNORE);
    }
    MPI_Start(&all); /* line: start_all */
    sent[1] = 0x17;
    __asm__ volatile("" ::: "memory");
    MPI_Irecv(&received[1], 1, MPI_INT, 0, 9, MPI_COMM_SELF, &request); /* line: into_started */
    MPI_Send(&other, 1, MPI_INT, 0, 9, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Wait(&all, MPI_STATUS_IGNORE);
    MPI_Request_free(&all);
}

/* Rank 0 alone is one group, the others are the other one. */
FUNCTION changed_between_groups(void) {
    MPI_Comm half, inter;
    MPI_Request requests[2];
    int sent[2] = {0}, received[4];
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 1, 0, &inter);
    MPI_Comm_set_name(inter, "both");
    MPI_Igather(sent, 2, MPI_INT, received, 2, MPI_INT, rank > 0 ? 0 : MPI_ROOT, inter, /* line: igather */
        &requests[0]);
    if (rank == 0) { /* the root receives from two, and does not send */
        sent[0] = 0x17;
        MPI_Irecv(&received[3], 1, MPI_INT, 0, 9, MPI_COMM_SELF, &requests[1]); /* line: into_gathered */
        MPI_Send(sent, 1, MPI_INT, 0, 9, MPI_COMM_SELF);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    } else if (rank == 2) {
        MPI_Recv(&received, 0, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* behind the text of rank 0 */
        sent[1] = 0x17;
        __asm__ volatile("" ::: "memory");
    }
    if (rank == 0) {
        MPI_Send(sent, 0, MPI_INT, 2, 8, MPI_COMM_WORLD);
    }
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* Collectives on windows. */

FUNCTION other_fence(void) {
    MPI_Win window, kept;
    void* memory;
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_set_name(window, "grid");
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    MPI_Win_fence(0, window);
    kept = window;
    if (rank == 0) {
        expect(MPI_Win_fence(0, window), MPI_ERR_OTHER); /* line: fence_instead */
    } else {
        expect(MPI_Win_free(&window), MPI_ERR_OTHER); /* line: freed_instead */
        CHECK(window == kept);
    }
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, window));
    CHECK_OK(MPI_Win_free(&window));
}

/* One-sided operations. */

static MPI_Win new_window(int** memory) {
    MPI_Win window;
    MPI_Win_allocate(64 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_SELF, memory, &window);
    MPI_Win_set_name(window, "grid");
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    memset(*memory, 0, 64 * sizeof(int));
    return window;
}

FUNCTION put_other_type(void) {
    int* memory;
    MPI_Win window = new_window(&memory);
    const int data[2] = {1, 2};
    MPI_Win_fence(0, window);
    CHECK_CLASS(MPI_Put(data, 2, MPI_INT, 0, 0, 2, MPI_FLOAT, window), MPI_ERR_TYPE); /* line: put_float */
    CHECK_OK(MPI_Put(data, 2, MPI_INT, 0, 0, 2, MPI_INT, window));
    MPI_Win_fence(0, window);
    CHECK_EQUAL(memory[1], 2);
    MPI_Win_free(&window);
}

FUNCTION changed_origin(void) {
    int* memory;
    MPI_Win window = new_window(&memory);
    int data[4] = {1, 2, 3, 4};
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Put(data, 4, MPI_INT, 0, 0, 4, MPI_INT, window); /* line: put_changed */
    data[2] = 0x17;
    __asm__ volatile("" ::: "memory");
    MPI_Win_flush_local(0, window);
    data[2] = 5; /* it is complete at the origin */
    MPI_Win_unlock(0, window);
    MPI_Win_free(&window);
}

/* A blocking collective and a one-sided operation use the buffer of a receive. */
FUNCTION into_awaited_memory(void) {
    int* memory;
    MPI_Win window = new_window(&memory);
    int value = 0;
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, 0, 11, MPI_COMM_SELF, &request); /* line: awaited */
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_SELF);               /* line: bcast_awaited */
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Get(&value, 1, MPI_INT, 0, 1, 1, MPI_INT, window); /* line: get_awaited */
    MPI_Win_unlock(0, window);
    MPI_Send(memory, 1, MPI_INT, 0, 11, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_free(&window);
}

FUNCTION two_results(void) {
    int* memory;
    MPI_Win window = new_window(&memory);
    int one = 1, old[2];
    MPI_Win_lock_all(0, window);
    MPI_Fetch_and_op(&one, &old[0], MPI_INT, 0, 0, MPI_SUM, window); /* line: first_old */
    MPI_Fetch_and_op(&one, &old[1], MPI_INT, 0, 0, MPI_SUM, window);
    MPI_Get(old, 1, MPI_INT, 0, 1, 1, MPI_INT, window); /* line: into_old */
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

FUNCTION same_target(void) {
    int* memory;
    MPI_Win window = new_window(&memory);
    int data[4] = {1, 2, 3, 4}, result[2];
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Put(data, 4, MPI_INT, 0, 8, 4, MPI_INT, window);  /* line: first_put */
    MPI_Put(data, 2, MPI_INT, 0, 11, 2, MPI_INT, window); /* line: second_put */
    MPI_Win_flush(0, window);
    MPI_Get(result, 2, MPI_INT, 0, 8, 2, MPI_INT, window);               /* line: get_after */
    MPI_Accumulate(data, 1, MPI_INT, 0, 9, 1, MPI_INT, MPI_SUM, window); /* line: sum_after */
    MPI_Win_unlock(0, window);
    MPI_Win_free(&window);
}

static const struct {
    const char* name;
    void (*run)(void);
} cases[] = {
    {"leak_objects", leak_objects},
    {"leak_requests", leak_requests},
    {"leak_simple_requests", leak_simple_requests},
    {"other_function", other_function},
    {"other_root", other_root},
    {"other_op", other_op},
    {"other_count", other_count},
    {"other_type", other_type},
    {"other_form", other_form},
    {"other_nonblocking", other_nonblocking},
    {"other_persistent", other_persistent},
    {"other_counts", other_counts},
    {"neighbor_function", neighbor_function},
    {"neighbor_counts", neighbor_counts},
    {"other_idup", other_idup},
    {"other_constructor", other_constructor},
    {"other_fence", other_fence},
    {"wrong_type", wrong_type},
    {"wrong_buffered", wrong_buffered},
    {"wrong_replace", wrong_replace},
    {"wrong_partitions", wrong_partitions},
    {"wrong_order", wrong_order},
    {"wrong_bytes", wrong_bytes},
    {"changed_send", changed_send},
    {"changed_long_send", changed_long_send},
    {"shared_receive", shared_receive},
    {"sent_while_received", sent_while_received},
    {"changed_partition", changed_partition},
    {"early_partition", early_partition},
    {"changed_neighbor_send", changed_neighbor_send},
    {"changed_persistent_collective", changed_persistent_collective},
    {"changed_between_groups", changed_between_groups},
    {"put_other_type", put_other_type},
    {"changed_origin", changed_origin},
    {"two_results", two_results},
    {"into_awaited_memory", into_awaited_memory},
    {"same_target", same_target},
};

int main(int argc, char** argv) {
    const char* name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "leak_in_session") == 0) {
        leak_in_session();
        return 0;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 3) { /* a second argument: the default error handler */
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        if (strcmp(name, cases[i].name) == 0) {
            cases[i].run();
            return finish();
        }
    }
    fprintf(stderr, "wrong: no case %s\n", name);
    return 2;
}
