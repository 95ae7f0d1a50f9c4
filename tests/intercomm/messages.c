/* SPDX-License-Identifier: BSD-3-Clause */
/* Point-to-point messages on intercommunicators: ranks are those of the other group. */
#include "tests/intercomm/sides.h"

#include <stdlib.h>

static void test_any_source(struct sides* s) {
    int seen[64] = {0}, value;
    MPI_Status status;
    MPI_Request requests[64];
    const int mine = 100 * s->side + s->rank;
    for (int i = 0; i < s->remote_size; ++i) {
        MPI_Isend(&mine, 1, MPI_INT, i, 20 + s->rank, s->inter, &requests[i]);
    }
    for (int i = 0; i < s->remote_size; ++i) {
        CHECK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, s->inter, &status) == MPI_SUCCESS);
        CHECK(status.MPI_SOURCE >= 0 && status.MPI_SOURCE < s->remote_size);
        CHECK(value == 100 * (1 - s->side) + status.MPI_SOURCE && status.MPI_TAG == 20 + status.MPI_SOURCE);
        CHECK(!seen[status.MPI_SOURCE]++);
    }
    MPI_Waitall(s->remote_size, requests, MPI_STATUSES_IGNORE);
}

/* From the last rank of side 0 to the last rank of side 1 and back: eager, rendezvous, synchronous. */
static void test_sizes(struct sides* s) {
    static const int sizes[] = {0, 1, 100, 5000, 100000, 3000000};
    const int peer = s->remote_size - 1;
    if (s->rank != s->size - 1) {
        return;
    }
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        const int n = sizes[i];
        int *out = malloc(sizeof(int) * (size_t)(n + 1)), *in = malloc(sizeof(int) * (size_t)(n + 1));
        MPI_Request request;
        MPI_Status status;
        int count, wrong = 0;
        for (int k = 0; k < n; ++k) {
            out[k] = k * 3 + s->side;
            in[k] = -1;
        }
        MPI_Irecv(in, n, MPI_INT, peer, 4, s->inter, &request);
        CHECK((i % 2 ? MPI_Ssend : MPI_Send)(out, n, MPI_INT, peer, 4, s->inter) == MPI_SUCCESS);
        CHECK(MPI_Wait(&request, &status) == MPI_SUCCESS);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(count == n && status.MPI_SOURCE == peer);
        for (int k = 0; k < n; ++k) {
            wrong += in[k] != k * 3 + 1 - s->side;
        }
        CHECK(wrong == 0);
        free(out);
        free(in);
    }
}

static void test_probes(struct sides* s) {
    const int to = s->rank % s->remote_size;
    int senders = 0, value = 7 * s->rank, count;
    MPI_Request request;
    MPI_Status status;
    MPI_Message message;
    for (int i = 0; i < s->remote_size; ++i) {
        senders += i % s->size == s->rank;
    }
    MPI_Isend(&value, 1, MPI_INT, to, 6, s->inter, &request);
    for (int i = 0; i < senders; ++i) {
        int got = -1;
        if (i % 2 == 0) {
            CHECK(MPI_Probe(MPI_ANY_SOURCE, 6, s->inter, &status) == MPI_SUCCESS);
            const int source = status.MPI_SOURCE;
            CHECK(MPI_Recv(&got, 1, MPI_INT, source, 6, s->inter, &status) == MPI_SUCCESS);
            CHECK(status.MPI_SOURCE == source);
        } else {
            CHECK(MPI_Mprobe(MPI_ANY_SOURCE, 6, s->inter, &message, &status) == MPI_SUCCESS);
            CHECK(MPI_Mrecv(&got, 1, MPI_INT, &message, &status) == MPI_SUCCESS);
        }
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(count == 1 && status.MPI_SOURCE < s->remote_size && got == 7 * status.MPI_SOURCE);
        CHECK(status.MPI_SOURCE % s->size == s->rank);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Same tag, two communicators between the same processes, received in another order than sent. */
static void test_apart(struct sides* s) {
    MPI_Comm dup;
    MPI_Comm_dup(s->inter, &dup);
    const MPI_Comm inters[] = {s->inter, dup};
    if (s->rank == 0) {
        MPI_Request requests[2];
        int out[2] = {10, 20}, got = 0;
        for (int i = 0; i < 2; ++i) {
            MPI_Isend(&out[i], 1, MPI_INT, 0, 9, inters[i], &requests[i]);
        }
        for (int i = 1; i >= 0; --i) {
            MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, inters[i], MPI_STATUS_IGNORE);
            CHECK(got == 10 * (i + 1));
        }
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Comm_free(&dup);
}

static void test_others(struct sides* s) {
    const int peer = s->rank % s->remote_size;
    int out = s->rank, in = -1;
    MPI_Status status;
    if (s->rank < s->remote_size) {
        MPI_Request requests[2];
        CHECK(MPI_Sendrecv(&out, 1, MPI_INT, peer, 8, &in, 1, MPI_INT, peer, 8, s->inter, &status) == MPI_SUCCESS);
        CHECK(in == peer && status.MPI_SOURCE == peer);
        CHECK(MPI_Send_init(&out, 1, MPI_INT, peer, 12, s->inter, &requests[0]) == MPI_SUCCESS);
        CHECK(MPI_Recv_init(&in, 1, MPI_INT, MPI_ANY_SOURCE, 12, s->inter, &requests[1]) == MPI_SUCCESS);
        for (int i = 0; i < 5; ++i) {
            in = -1;
            MPI_Startall(2, requests);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
            CHECK(in == peer);
        }
        MPI_Request_free(&requests[0]);
        MPI_Request_free(&requests[1]);
    }
    CHECK(MPI_Recv(&in, 1, MPI_INT, MPI_PROC_NULL, 0, s->inter, &status) == MPI_SUCCESS);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
}

int main(int argc, char** argv) {
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int first = 1; first < size; ++first) {
        struct sides s = make_sides(first, 0, 0);
        test_any_source(&s);
        MPI_Barrier(s.inter); /* no receive of this round matches a message of the next one */
        test_sizes(&s);
        test_probes(&s);
        MPI_Barrier(s.inter);
        test_apart(&s);
        MPI_Barrier(s.inter);
        test_others(&s);
        free_sides(&s);
    }
    MPI_Finalize();
    return failures();
}
