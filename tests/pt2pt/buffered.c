/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffered sends from attached and automatic buffers, of the process and of a communicator; what happens when the
 * buffer is too small; flush and detach. */
#include "tests/mpi_check/check.h"

#include <stdlib.h>
#include <string.h>

static int rank, size, next, previous;

static void receive(int messages, int n, MPI_Comm comm) {
    int* in = malloc(sizeof(int) * n);
    for (int m = 0; m < messages; m++) {
        MPI_Recv(in, n, MPI_INT, previous, 4, comm, MPI_STATUS_IGNORE);
        int good = 1;
        for (int i = 0; i < n; i++) {
            good = good && in[i] == previous + m * 7 + i;
        }
        CHECK(good);
    }
    free(in);
}

/* All processes send before they receive: messages over the eager limit need the buffer for that. */
static void send_first(int messages, int n, MPI_Comm comm) {
    int* out = malloc(sizeof(int) * n);
    for (int m = 0; m < messages; m++) {
        for (int i = 0; i < n; i++) {
            out[i] = rank + m * 7 + i;
        }
        if (m % 2 == 0) {
            CHECK(MPI_Bsend(out, n, MPI_INT, next, 4, comm) == MPI_SUCCESS);
        } else {
            MPI_Request request;
            CHECK(MPI_Ibsend(out, n, MPI_INT, next, 4, comm, &request) == MPI_SUCCESS);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        memset(out, 0xff, sizeof(int) * n);
    }
    free(out);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    void* address;
    int bytes;

    /* A buffer of exactly the size that the standard states. */
    for (int n = 1; n <= 100000; n *= 100) {
        const int need = 6 * (n * (int)sizeof(int) + MPI_BSEND_OVERHEAD);
        void* memory = malloc(need);
        MPI_Buffer_attach(memory, need);
        send_first(6, n, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        receive(6, n, MPI_COMM_WORLD);
        MPI_Buffer_flush();
        MPI_Buffer_detach(&address, &bytes);
        CHECK(address == memory && bytes == need);
        free(memory);
    }

    /* The buffer is too small: the call returns an error, and no message is sent. */
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int class;
    char small[2000], data[3000] = {0};
    MPI_Error_class(MPI_Bsend(data, 3000, MPI_BYTE, next, 4, comm), &class);
    CHECK(class == MPI_ERR_BUFFER);
    MPI_Request persistent;
    MPI_Bsend_init(data, 3000, MPI_BYTE, next, 4, comm, &persistent);
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(MPI_Start(&persistent), text, &length);
    CHECK(strstr(text, "no buffer is attached") != NULL);
    MPI_Request_free(&persistent);
    MPI_Comm_attach_buffer(comm, small, sizeof small);
    MPI_Error_class(MPI_Comm_attach_buffer(comm, small, sizeof small), &class);
    CHECK(class == MPI_ERR_BUFFER);
    MPI_Error_class(MPI_Bsend(data, 3000, MPI_BYTE, next, 4, comm), &class);
    CHECK(class == MPI_ERR_BUFFER);
    MPI_Comm_detach_buffer(comm, &address, &bytes);
    CHECK(address == small && bytes == sizeof small);

    /* A buffer of the communicator comes before that of the process. */
    MPI_Buffer_attach(small, sizeof small);
    MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0);
    send_first(20, 30000, comm);
    MPI_Barrier(comm);
    MPI_Request flush;
    MPI_Comm_iflush_buffer(comm, &flush);
    receive(20, 30000, comm);
    MPI_Wait(&flush, MPI_STATUS_IGNORE);
    MPI_Comm_flush_buffer(comm);
    MPI_Comm_detach_buffer(comm, &address, &bytes);
    CHECK(address == MPI_BUFFER_AUTOMATIC);
    MPI_Buffer_detach(&address, &bytes);
    CHECK(address == small);

    /* Persistent. */
    MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
    int value, got;
    MPI_Request request;
    MPI_Bsend_init(&value, 1, MPI_INT, next, 9, comm, &request);
    for (int i = 0; i < 10; i++) {
        value = 100 * rank + i;
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        value = -1;
        MPI_Recv(&got, 1, MPI_INT, previous, 9, comm, MPI_STATUS_IGNORE);
        CHECK(got == 100 * previous + i);
    }
    MPI_Request_free(&request);

    /* A cancelled buffered send is not delivered. */
    for (int n = 1; n <= 3000; n += 2999) {
        int flag = 0, found = 1;
        MPI_Status status;
        if (rank == 0) {
            static char big[300000];
            MPI_Ibsend(big, n * 100, MPI_BYTE, size - 1, 11, comm, &request);
            MPI_Cancel(&request);
            MPI_Wait(&request, &status);
            MPI_Test_cancelled(&status, &flag);
            CHECK(flag);
        }
        MPI_Barrier(comm);
        if (rank == size - 1) {
            MPI_Iprobe(0, 11, comm, &found, &status);
            CHECK(!found);
        }
        MPI_Barrier(comm);
    }
    MPI_Buffer_detach(&address, &bytes);
    MPI_Comm_free(&comm);
    return finish();
}
