/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Sendrecv and its variants, small and large, strided, with MPI_PROC_NULL on either side. */
#include "tests/mpi_check/check.h"

#include <stdlib.h>

static int rank, size, next, previous;

static void ring(int n) {
    int* out = malloc(sizeof(int) * n);
    int* in = malloc(sizeof(int) * n);
    MPI_Status status;
    MPI_Request request;
    for (int form = 0; form < 8; form++) {
        for (int i = 0; i < n; i++) {
            out[i] = rank * 3 + i;
            in[i] = -1;
        }
        int* result = form % 2 == 0 ? in : out;
        switch (form) {
        case 0:
            MPI_Sendrecv(out, n, MPI_INT, next, 1, in, n, MPI_INT, previous, 1, MPI_COMM_WORLD, &status);
            break;
        case 1:
            MPI_Sendrecv_replace(out, n, MPI_INT, next, 1, previous, 1, MPI_COMM_WORLD, &status);
            break;
        case 2:
            MPI_Isendrecv(out, n, MPI_INT, next, 1, in, n, MPI_INT, previous, 1, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, &status);
            break;
        case 3:
            MPI_Isendrecv_replace(out, n, MPI_INT, next, 1, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, &status);
            break;
        case 4:
            MPI_Sendrecv_c(out, n, MPI_INT, next, 1, in, n, MPI_INT, previous, 1, MPI_COMM_WORLD, &status);
            break;
        case 5:
            MPI_Sendrecv_replace_c(out, n, MPI_INT, next, 1, previous, 1, MPI_COMM_WORLD, &status);
            break;
        case 6:
            MPI_Isendrecv_c(out, n, MPI_INT, next, 1, in, n, MPI_INT, previous, 1, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, &status);
            break;
        default:
            MPI_Isendrecv_replace_c(out, n, MPI_INT, next, 1, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, &status);
        }
        int received, good = 1;
        MPI_Get_count(&status, MPI_INT, &received);
        CHECK(status.MPI_SOURCE == previous && status.MPI_TAG == 1 && received == n);
        for (int i = 0; i < n; i++) {
            good = good && result[i] == previous * 3 + i;
        }
        CHECK(good);
    }
    free(in);
    free(out);
}

static void strided(void) {
    enum { n = 5000 };
    static int values[2 * n];
    MPI_Datatype every_other;
    MPI_Type_vector(n, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    for (int i = 0; i < 2 * n; i++) {
        values[i] = i % 2 == 0 ? rank + i : -7;
    }
    MPI_Sendrecv_replace(values, 1, every_other, next, 2, previous, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int good = 1;
    for (int i = 0; i < 2 * n; i++) {
        good = good && values[i] == (i % 2 == 0 ? previous + i : -7);
    }
    CHECK(good);
    MPI_Type_free(&every_other);
}

/* A chain of ranks: the neighbours at the ends are MPI_PROC_NULL. */
static void chain(void) {
    int out = rank, in = -5;
    const int right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    MPI_Status status;
    MPI_Request request;
    MPI_Sendrecv(&out, 1, MPI_INT, right, 3, &in, 1, MPI_INT, left, 3, MPI_COMM_WORLD, &status);
    CHECK(status.MPI_SOURCE == left && in == (rank > 0 ? rank - 1 : -5));
    MPI_Isendrecv_replace(&out, 1, MPI_INT, right, 3, left, 3, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    CHECK(status.MPI_SOURCE == left && out == (rank > 0 ? rank - 1 : rank));
    MPI_Send(&out, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    MPI_Probe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
    MPI_Message message;
    MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &message, &status);
    CHECK(message == MPI_MESSAGE_NO_PROC);
    MPI_Mrecv(&in, 1, MPI_INT, &message, &status);
    CHECK(message == MPI_MESSAGE_NULL && status.MPI_SOURCE == MPI_PROC_NULL);
    message = MPI_MESSAGE_NO_PROC;
    MPI_Imrecv(&in, 1, MPI_INT, &message, &request);
    MPI_Wait(&request, &status);
    CHECK(message == MPI_MESSAGE_NULL && status.MPI_SOURCE == MPI_PROC_NULL);
}

/* A request that is complete holds up no MPI_Comm_disconnect, before it is waited for. */
static void disconnected(void) {
    int data = rank;
    MPI_Comm copy;
    MPI_Status status;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Isendrecv_replace(&data, 1, MPI_INT, next, 3, previous, 3, copy, &request);
    MPI_Comm_disconnect(&copy);
    CHECK(copy == MPI_COMM_NULL);
    MPI_Wait(&request, &status);
    CHECK(status.MPI_SOURCE == previous && data == previous);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    const int sizes[] = {0, 1, 2, 10, 1000, 1024, 1025, 50000, 400000};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        ring(sizes[i]);
    }
    strided();
    chain();
    disconnected();
    return finish();
}
