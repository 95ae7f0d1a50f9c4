/* SPDX-License-Identifier: BSD-3-Clause */
/* Every send mode (standard, buffered, synchronous, ready) in its blocking, nonblocking and persistent form, with int
 * and with MPI_Count: the data, and when the mode lets the send complete. */
#include "tests/mpi_check/check.h"

#include <limits.h>
#include <stdlib.h>

enum Mode { standard, buffered, synchronous, ready, modes };
enum Form { blocking, nonblocking, persistent, forms };
enum { data_tag = 3, posted_tag = 4, order_tag = 5 };

static int rank, size, next, previous;
static MPI_Comm comm;

typedef int Send(const void*, int, MPI_Datatype, int, int, MPI_Comm);
typedef int Send_c(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm);
typedef int Start(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
typedef int Start_c(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

/* The functions of each mode. */
static const struct {
    Send* send;
    Send_c* send_c;
    Start *isend, *init;
    Start_c *isend_c, *init_c;
} functions[modes] = {
    [standard] = {MPI_Send, MPI_Send_c, MPI_Isend, MPI_Send_init, MPI_Isend_c, MPI_Send_init_c},
    [buffered] = {MPI_Bsend, MPI_Bsend_c, MPI_Ibsend, MPI_Bsend_init, MPI_Ibsend_c, MPI_Bsend_init_c},
    [synchronous] = {MPI_Ssend, MPI_Ssend_c, MPI_Issend, MPI_Ssend_init, MPI_Issend_c, MPI_Ssend_init_c},
    [ready] = {MPI_Rsend, MPI_Rsend_c, MPI_Irsend, MPI_Rsend_init, MPI_Irsend_c, MPI_Rsend_init_c},
};

static void send_blocking(enum Mode mode, int large, const int* out, int n, int dest, int tag) {
    if (large) {
        functions[mode].send_c(out, n, MPI_INT, dest, tag, comm);
    } else {
        functions[mode].send(out, n, MPI_INT, dest, tag, comm);
    }
}

static MPI_Request send_nonblocking(enum Mode mode, int large, const int* out, int n, int dest, int tag) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (large) {
        functions[mode].isend_c(out, n, MPI_INT, dest, tag, comm, &request);
    } else {
        functions[mode].isend(out, n, MPI_INT, dest, tag, comm, &request);
    }
    return request;
}

static MPI_Request send_persistent(enum Mode mode, int large, const int* out, int n, int dest, int tag) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (large) {
        functions[mode].init_c(out, n, MPI_INT, dest, tag, comm, &request);
    } else {
        functions[mode].init(out, n, MPI_INT, dest, tag, comm, &request);
    }
    return request;
}

/* A receive in the form that corresponds to that of the send. */
static MPI_Request post_receive(enum Form form, int large, int* in, int n) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (form == persistent) {
        if (large) {
            MPI_Recv_init_c(in, n, MPI_INT, previous, data_tag, comm, &request);
        } else {
            MPI_Recv_init(in, n, MPI_INT, previous, data_tag, comm, &request);
        }
        MPI_Start(&request);
    } else if (large) {
        MPI_Irecv_c(in, n, MPI_INT, previous, data_tag, comm, &request);
    } else {
        MPI_Irecv(in, n, MPI_INT, previous, data_tag, comm, &request);
    }
    return request;
}

static void finish_request(MPI_Request* request, MPI_Status* status) {
    MPI_Wait(request, status);
    if (*request != MPI_REQUEST_NULL) {
        MPI_Request_free(request);
    }
}

/* Returns when the receive of `next` is posted, as ready mode requires. */
static void wait_until_next_has_posted(void) {
    MPI_Sendrecv(NULL, 0, MPI_INT, previous, posted_tag, NULL, 0, MPI_INT, next, posted_tag, comm, MPI_STATUS_IGNORE);
}

static void transfer(enum Mode mode, enum Form form, int large, int n) {
    const int before = check_failures;
    int* out = malloc(sizeof(int) * (n + 1));
    int* in = malloc(sizeof(int) * (n + 1));
    for (int i = 0; i <= n; i++) {
        out[i] = 1000000 * (int)mode + 10000 * rank + i;
        in[i] = -1;
    }
    MPI_Request receive = post_receive(form, large, in, n + 1), request;
    MPI_Status status;
    wait_until_next_has_posted();
    if (form == blocking) {
        send_blocking(mode, large, out, n, next, data_tag);
    } else if (form == nonblocking) {
        request = send_nonblocking(mode, large, out, n, next, data_tag);
        CHECK(request != MPI_REQUEST_NULL);
        finish_request(&request, MPI_STATUS_IGNORE);
    } else {
        request = send_persistent(mode, large, out, n, next, data_tag);
        CHECK(request != MPI_REQUEST_NULL);
        MPI_Start(&request);
        finish_request(&request, MPI_STATUS_IGNORE);
    }
    finish_request(&receive, &status);
    int received = -1, good = 1;
    MPI_Get_count(&status, MPI_INT, &received);
    CHECK(status.MPI_SOURCE == previous && status.MPI_TAG == data_tag && received == n);
    for (int i = 0; i < n; i++) {
        good = good && in[i] == 1000000 * (int)mode + 10000 * previous + i;
    }
    CHECK(good && in[n] == -1);
    if (check_failures != before) {
        fprintf(stderr, "  in mode %d, form %d, large %d, %d elements\n", (int)mode, (int)form, large, n);
    }
    free(in);
    free(out);
}

/* A message that came after the synchronous one has been received, so that one has arrived; as long as no receive
 * matches it, its send is not complete. */
static void synchronous_needs_a_receive(enum Form form, int large) {
    int out = rank, in = -1, flag = 0;
    MPI_Request request = form == persistent ? send_persistent(synchronous, large, &out, 1, next, data_tag)
                                             : send_nonblocking(synchronous, large, &out, 1, next, data_tag);
    if (form == persistent) {
        MPI_Start(&request);
    }
    MPI_Sendrecv(NULL, 0, MPI_INT, next, order_tag, NULL, 0, MPI_INT, previous, order_tag, comm, MPI_STATUS_IGNORE);
    for (int i = 0; i < 100; i++) {
        MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
    }
    MPI_Barrier(comm);
    MPI_Recv(&in, 1, MPI_INT, previous, data_tag, comm, MPI_STATUS_IGNORE);
    CHECK(in == previous);
    finish_request(&request, MPI_STATUS_IGNORE);
}

/* The receiver sends a signal message between probing the message and receiving it. A synchronous send that returned
 * has seen the receive, so that the signal message, which was sent before on the same communicator, has arrived too. */
static void synchronous_returns_after_the_receive(int large) {
    const int partner = rank % 2 == 0 ? rank + 1 : rank - 1;
    if (partner >= size) {
        return;
    }
    for (int i = 0; i < 50; i++) {
        int value = i, flag = 0;
        if (rank % 2 == 0) {
            send_blocking(synchronous, large, &value, 1, partner, data_tag);
            MPI_Iprobe(partner, posted_tag, comm, &flag, MPI_STATUS_IGNORE);
            CHECK(flag);
            MPI_Recv(NULL, 0, MPI_INT, partner, posted_tag, comm, MPI_STATUS_IGNORE);
        } else {
            MPI_Probe(partner, data_tag, comm, MPI_STATUS_IGNORE);
            MPI_Request signal; /* a pml may let each standard send wait for its receive */
            MPI_Isend(NULL, 0, MPI_INT, partner, posted_tag, comm, &signal);
            value = -1;
            MPI_Recv(&value, 1, MPI_INT, partner, data_tag, comm, MPI_STATUS_IGNORE);
            CHECK(value == i);
            MPI_Wait(&signal, MPI_STATUS_IGNORE);
        }
    }
}

/* All members send before any receives, over the eager limit: this completes only out of the attached buffer. */
static void buffered_needs_no_receive(enum Form form, int large) {
    enum { n = 60000 };
    static int out[n], in[n];
    for (int i = 0; i < n; i++) {
        out[i] = rank + i;
    }
    MPI_Request request;
    if (form == blocking) {
        send_blocking(buffered, large, out, n, next, data_tag);
    } else if (form == nonblocking) {
        request = send_nonblocking(buffered, large, out, n, next, data_tag);
        finish_request(&request, MPI_STATUS_IGNORE);
    } else {
        request = send_persistent(buffered, large, out, n, next, data_tag);
        MPI_Start(&request);
        finish_request(&request, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < n; i++) {
        out[i] = -1;
    }
    MPI_Barrier(comm);
    MPI_Recv_c(in, n, MPI_INT, previous, data_tag, comm, MPI_STATUS_IGNORE);
    int good = 1;
    for (int i = 0; i < n; i++) {
        good = good && in[i] == previous + i;
    }
    CHECK(good);
}

/* A buffer whose size does not fit into an int: the _c functions name it, the other one refuses and keeps it. */
static void sizes_over_an_int(void) {
    const MPI_Count large = ((MPI_Count)1 << 31) + 100;
    void *memory = malloc(large), *address = NULL;
    MPI_Count found = -1;
    int small = -1, class = MPI_SUCCESS;
    if (memory == NULL) {
        printf("SKIPPED: sizes_over_an_int: no %lld bytes of address space\n", (long long)large);
        return;
    }
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK(MPI_Buffer_attach_c(memory, large) == MPI_SUCCESS);
    MPI_Error_class(MPI_Buffer_detach(&address, &small), &class);
    CHECK(class == MPI_ERR_COUNT && address == NULL);
    CHECK(MPI_Buffer_detach_c(&address, &found) == MPI_SUCCESS);
    CHECK(address == memory && found == large);

    address = NULL, found = -1, class = MPI_SUCCESS;
    CHECK(MPI_Comm_attach_buffer_c(comm, memory, large) == MPI_SUCCESS);
    MPI_Error_class(MPI_Comm_detach_buffer(comm, &address, &small), &class);
    CHECK(class == MPI_ERR_COUNT && address == NULL);
    CHECK(MPI_Comm_detach_buffer_c(comm, &address, &found) == MPI_SUCCESS);
    CHECK(address == memory && found == large);
    free(memory);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    const int bytes = 300000 + MPI_BSEND_OVERHEAD;
    void *memory = malloc(bytes), *address = NULL;
    MPI_Count found = -1;
    MPI_Buffer_attach_c(memory, bytes);
    for (int large = 0; large < 2; large++) {
        for (int form = 0; form < forms; form++) {
            for (int mode = 0; mode < modes; mode++) {
                transfer(mode, form, large, 0);
                transfer(mode, form, large, 1);
                transfer(mode, form, large, 300);
                transfer(mode, form, large, 60000);
            }
            buffered_needs_no_receive(form, large);
        }
        synchronous_needs_a_receive(nonblocking, large);
        synchronous_needs_a_receive(persistent, large);
        synchronous_returns_after_the_receive(large);
    }
    MPI_Buffer_detach_c(&address, &found);
    CHECK(address == memory && found == bytes);
    free(memory);
    sizes_over_an_int();
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return failures();
}
