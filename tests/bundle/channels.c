/* SPDX-License-Identifier: BSD-3-Clause */
/* Bundles of channels. A channel is ready, so that the bundle of the receives is started, by all, before that of the
   sends; two bundles of both need no barrier where each starts the receives of the next round. */
#include "tests/mpi_check/check.h"

#include <mpix.h>
#include <string.h>

enum { rounds = 60, words = 3000, parts = 4 };

static int rank, size, next, previous;
static int out[parts][words], in[parts][words];

/* Of different lengths: in the word's line, beside it, and in a buffer of its own. */
static const int counts[parts] = {0, 3, 200, words};

static int value(int of, int round, int part, int at) {
    return 100000 * round + 10000 * part + 3000 * (of % 3) + at;
}

static void fill(int round) {
    for (int part = 0; part < parts; ++part) {
        for (int i = 0; i < words; ++i) {
            out[part][i] = value(rank, round, part, i);
        }
    }
}

static void check(int round) {
    int wrong = 0;
    for (int part = 0; part < parts; ++part) {
        for (int i = 0; i < counts[part]; ++i) {
            wrong += in[part][i] != value(previous, round, part, i);
        }
        for (int i = counts[part]; i < words; ++i) {
            wrong += in[part][i] != -1;
        }
    }
    CHECK_EQUAL(wrong, 0);
}

static void test_two_bundles(void) {
    MPI_Request requests[2 * parts], channels[2 * parts], receives, sends;
    for (int part = 0; part < parts; ++part) {
        CHECK_OK(MPI_Recv_init(in[part], counts[part], MPI_INT, previous, part, MPI_COMM_WORLD, &requests[part]));
        CHECK_OK(MPI_Send_init(out[part], counts[part], MPI_INT, next, part, MPI_COMM_WORLD, &requests[parts + part]));
    }
    CHECK_OK(MPIX_Bind_channels(requests, channels, 2 * parts, NULL));
    CHECK_OK(MPIX_Bundle_init(parts, channels, MPI_INFO_NULL, &receives));
    CHECK_OK(MPIX_Bundle_init(parts, channels + parts, MPI_INFO_NULL, &sends));
    for (int round = 0; round < rounds; ++round) {
        MPI_Request both[2] = {receives, sends};
        memset(in, -1, sizeof in);
        CHECK_OK(MPI_Start(&receives));
        MPI_Barrier(MPI_COMM_WORLD);
        fill(round);
        CHECK_OK(MPI_Start(&sends));
        if (round % 3 == 0) {
            CHECK_OK(MPI_Waitall(2, both, MPI_STATUSES_IGNORE));
        } else if (round % 3 == 1) {
            int done = 0;
            while (!done) {
                CHECK_OK(MPI_Testall(2, both, &done, MPI_STATUSES_IGNORE));
            }
        } else {
            CHECK_OK(MPI_Wait(&sends, MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Wait(&receives, MPI_STATUS_IGNORE));
        }
        check(round);
        int flag = 0, count = -1;
        MPI_Status status;
        CHECK_OK(MPI_Request_get_status(channels[2], &flag, &status));
        CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
        CHECK_EQUAL(flag, 1);
        CHECK_EQUAL(count, counts[2]);
    }
    CHECK_CLASS(MPIX_Unbind_channel(&channels[1]), MPI_ERR_REQUEST); /* a member */
    CHECK_OK(MPI_Request_free(&receives));
    CHECK_OK(MPI_Request_free(&sends));
    CHECK_OK(MPIX_Unbind_channels(channels, 2 * parts));
    for (int i = 0; i < 2 * parts; ++i) {
        CHECK_OK(MPI_Request_free(&requests[i]));
    }
}

/* Channels beside a message that a poller completes, in one bundle inside another one. */
static void test_mixture(void) {
    MPI_Request requests[2], channels[2], plain[2], inner[2], receives, sends;
    CHECK_OK(MPI_Recv_init(in[1], 3, MPI_INT, previous, 1, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Send_init(out[1], 3, MPI_INT, next, 1, MPI_COMM_WORLD, &requests[1]));
    CHECK_OK(MPI_Recv_init(in[3], words, MPI_INT, previous, 3, MPI_COMM_WORLD, &plain[0]));
    CHECK_OK(MPI_Send_init(out[3], words, MPI_INT, next, 3, MPI_COMM_WORLD, &plain[1]));
    CHECK_OK(MPIX_Bind_channels(requests, channels, 2, NULL));
    MPI_Request first[2] = {channels[0], plain[0]};
    CHECK_OK(MPIX_Bundle_init(2, first, MPI_INFO_NULL, &inner[0]));
    CHECK_OK(MPIX_Bundle_init(1, &inner[0], MPI_INFO_NULL, &receives));
    MPI_Request second[2] = {plain[1], channels[1]};
    CHECK_OK(MPIX_Bundle_init(2, second, MPI_INFO_NULL, &sends));
    for (int round = 0; round < rounds; ++round) {
        memset(in, -1, sizeof in);
        CHECK_OK(MPI_Start(&receives));
        MPI_Barrier(MPI_COMM_WORLD);
        fill(round);
        CHECK_OK(MPI_Start(&sends));
        CHECK_OK(MPI_Wait(&receives, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Wait(&sends, MPI_STATUS_IGNORE));
        CHECK_EQUAL(in[1][2], value(previous, round, 1, 2));
        CHECK_EQUAL(in[3][words - 1], value(previous, round, 3, words - 1));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK_OK(MPI_Request_free(&receives));
    CHECK_OK(MPI_Request_free(&sends));
    CHECK_OK(MPI_Request_free(&inner[0]));
    CHECK_OK(MPIX_Unbind_channels(channels, 2));
    for (int i = 0; i < 2; ++i) {
        CHECK_OK(MPI_Request_free(&requests[i]));
        CHECK_OK(MPI_Request_free(&plain[i]));
    }
}

int main(void) {
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    test_two_bundles();
    test_mixture();
    return finish();
}
