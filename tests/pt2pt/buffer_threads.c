/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads attach, flush and detach buffers while another thread sends with the buffer that is attached. */
#include "tests/mpi_check/check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { rounds = 200, largest = 20000, messages_under_way = 8 };

static MPI_Session session;
static MPI_Comm comm, self;
static atomic_int sending;

/* Memory of the program: after detach it is its own again. */
static void* lend_to_session(void* unused) {
    const int size = messages_under_way * (largest * (int)sizeof(int) + MPI_BSEND_OVERHEAD);
    char* memory = malloc((size_t)size);
    while (atomic_load(&sending)) {
        void* address = NULL;
        int bytes = 0;
        CHECK(MPI_Session_attach_buffer(session, memory, size) == MPI_SUCCESS);
        CHECK(MPI_Session_flush_buffer(session) == MPI_SUCCESS);
        CHECK(MPI_Session_detach_buffer(session, &address, &bytes) == MPI_SUCCESS);
        CHECK(address == memory && bytes == size);
        memset(memory, 0xee, (size_t)size);
    }
    free(memory);
    return unused;
}

static void* lend_to_communicator(void* unused) {
    while (atomic_load(&sending)) {
        void* address = NULL;
        int bytes = 0;
        MPI_Request request = MPI_REQUEST_NULL;
        CHECK(MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0) == MPI_SUCCESS);
        CHECK(MPI_Comm_iflush_buffer(comm, &request) == MPI_SUCCESS);
        CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(MPI_Comm_detach_buffer(comm, &address, &bytes) == MPI_SUCCESS && address == MPI_BUFFER_AUTOMATIC);
    }
    return unused;
}

static void* lend_to_process(void* unused) {
    while (atomic_load(&sending)) {
        void* address = NULL;
        int bytes = 0;
        CHECK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0) == MPI_SUCCESS);
        CHECK(MPI_Buffer_detach(&address, &bytes) == MPI_SUCCESS && address == MPI_BUFFER_AUTOMATIC);
    }
    return unused;
}

static void* flush_process(void* unused) {
    while (atomic_load(&sending)) {
        MPI_Request request = MPI_REQUEST_NULL;
        CHECK(MPI_Buffer_flush() == MPI_SUCCESS);
        CHECK(MPI_Buffer_iflush(&request) == MPI_SUCCESS);
        CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    }
    return unused;
}

static void send_beside(void (*send)(void), int count, void* (*const* others)(void*)) {
    pthread_t threads[2];
    atomic_store(&sending, 1);
    for (int i = 0; i < count; ++i) {
        pthread_create(&threads[i], NULL, others[i], NULL);
    }
    send();
    atomic_store(&sending, 0);
    for (int i = 0; i < count; ++i) {
        pthread_join(threads[i], NULL);
    }
}

/* The buffer of the process stays attached, so that each send finds one. */
static void send_in_a_ring(void) {
    static int out[largest], in[largest];
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int round = 0; round < rounds; ++round) {
        const int n = round % 2 == 0 ? 3 : largest;
        for (int i = 0; i < n; ++i) {
            out[i] = round + i;
        }
        CHECK(MPI_Bsend(out, n, MPI_INT, (rank + 1) % size, 0, comm) == MPI_SUCCESS);
        memset(in, 0, sizeof in);
        CHECK(MPI_Recv(in, n, MPI_INT, (rank + size - 1) % size, 0, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(memcmp(in, out, sizeof(int) * (size_t)n) == 0);
    }
}

/* A buffer is attached at some times and not at others. */
static void try_to_send(void) {
    for (int round = 0; round < rounds; ++round) {
        int in = 0;
        const int code = MPI_Bsend(&round, 1, MPI_INT, 0, 0, self);
        if (code == MPI_SUCCESS) {
            CHECK(MPI_Recv(&in, 1, MPI_INT, 0, 0, self, MPI_STATUS_IGNORE) == MPI_SUCCESS && in == round);
        } else {
            CHECK(class_of(code) == MPI_ERR_BUFFER);
        }
    }
}

static MPI_Comm communicator_of(const char* pset) {
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm made = MPI_COMM_NULL;
    CHECK(MPI_Group_from_session_pset(session, pset, &group) == MPI_SUCCESS);
    CHECK(MPI_Comm_create_from_group(group, pset, MPI_INFO_NULL, MPI_ERRORS_RETURN, &made) == MPI_SUCCESS);
    MPI_Group_free(&group);
    return made;
}

int main(void) {
    MPI_Info info;
    void* address = NULL;
    int bytes = 0;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    CHECK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
    MPI_Info_free(&info);
    comm = communicator_of("mpi://WORLD");
    self = communicator_of("mpi://SELF");

    void* (*const lenders[])(void*) = {lend_to_session, lend_to_communicator};
    CHECK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0) == MPI_SUCCESS);
    send_beside(send_in_a_ring, 2, lenders);
    CHECK(MPI_Buffer_detach(&address, &bytes) == MPI_SUCCESS);
    void* (*const of_process[])(void*) = {lend_to_process, flush_process};
    send_beside(try_to_send, 2, of_process);

    MPI_Comm_free(&self);
    MPI_Comm_free(&comm);
    CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
    return failures();
}
