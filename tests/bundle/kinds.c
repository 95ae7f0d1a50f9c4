/* SPDX-License-Identifier: BSD-3-Clause */
/* Bundles of every kind of persistent request: started many times, nested, empty, and made again of the same members.
 */
#include "tests/mpi_check/check.h"

#include <mpix.h>
#include <string.h>

enum { rounds = 40, words = 3000 };

static int rank, size, next, previous;

/* A ring: what each rank sends to the next one depends on the round. */
static int value(int of, int round, int at) {
    return 1000 * round + 100 * of + at;
}

struct ring {
    int out[words], in[words];
    MPI_Request requests[2];
};

static void ring_init(struct ring* ring, int count, int tag, MPI_Comm comm) {
    CHECK_OK(MPI_Recv_init(ring->in, count, MPI_INT, previous, tag, comm, &ring->requests[0]));
    CHECK_OK(MPI_Send_init(ring->out, count, MPI_INT, next, tag, comm, &ring->requests[1]));
}
static void ring_fill(struct ring* ring, int count, int round) {
    for (int i = 0; i < count; ++i) {
        ring->out[i] = value(rank, round, i);
        ring->in[i] = -1;
    }
}
static void ring_check(const struct ring* ring, int count, int round) {
    int wrong = 0;
    for (int i = 0; i < count; ++i) {
        wrong += ring->in[i] != value(previous, round, i);
    }
    CHECK_EQUAL(wrong, 0);
}
static void free_all(int count, MPI_Request* requests) {
    for (int i = 0; i < count; ++i) {
        CHECK_OK(MPI_Request_free(&requests[i]));
    }
}

static void run(MPI_Request* bundle, int round) {
    int done = 0;
    MPI_Status status;
    CHECK_OK(MPI_Start(bundle));
    switch (round % 4) {
    case 0:
        CHECK_OK(MPI_Wait(bundle, &status));
        CHECK_EQUAL(status.MPI_SOURCE, MPI_ANY_SOURCE); /* a bundle has no message of its own */
        break;
    case 1:
        while (!done) {
            CHECK_OK(MPI_Test(bundle, &done, MPI_STATUS_IGNORE));
        }
        break;
    case 2:
        CHECK_OK(MPI_Waitall(1, bundle, MPI_STATUSES_IGNORE));
        break;
    default: {
        int index = -1;
        CHECK_OK(MPI_Waitany(1, bundle, &index, MPI_STATUS_IGNORE));
        CHECK_EQUAL(index, 0);
    }
    }
    CHECK(*bundle != MPI_REQUEST_NULL);
}

/* Messages below and above the eager limit, on two communicators. */
static void test_messages(void) {
    static struct ring small, large;
    MPI_Comm other;
    MPI_Request all[4], bundle;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    ring_init(&small, 5, 1, MPI_COMM_WORLD);
    ring_init(&large, words, 1, other);
    memcpy(all, small.requests, sizeof small.requests);
    memcpy(all + 2, large.requests, sizeof large.requests);
    CHECK_OK(MPIX_Bundle_init(4, all, MPI_INFO_NULL, &bundle));
    for (int round = 0; round < rounds; ++round) {
        ring_fill(&small, 5, round);
        ring_fill(&large, words, round + 7);
        run(&bundle, round);
        ring_check(&small, 5, round);
        ring_check(&large, words, round + 7);
    }
    CHECK_OK(MPI_Request_free(&bundle));
    CHECK(bundle == MPI_REQUEST_NULL);
    /* The members are ordinary requests again, and may go into another bundle. */
    ring_fill(&small, 5, 99);
    CHECK_OK(MPI_Startall(2, all));
    CHECK_OK(MPI_Waitall(2, all, MPI_STATUSES_IGNORE));
    ring_check(&small, 5, 99);
    CHECK_OK(MPIX_Bundle_init(2, all + 2, MPI_INFO_NULL, &bundle));
    ring_fill(&large, words, 3);
    run(&bundle, 0);
    ring_check(&large, words, 3);
    CHECK_OK(MPI_Request_free(&bundle));
    free_all(4, all);
    MPI_Comm_free(&other);
}

/* A message, an allreduce, a put and a partitioned message in one bundle, which is one of two members of another one.
 */
static void test_mixture(void) {
    static struct ring ring, outer;
    enum { partitions = 4, each = 50 };
    static int part_out[partitions * each], part_in[partitions * each];
    int one = 0, sum = 0, source = 0, *memory = NULL;
    MPI_Win win;
    MPI_Request inner[6], members[3], bundle;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    ring_init(&ring, 20, 2, MPI_COMM_WORLD);
    ring_init(&outer, 7, 3, MPI_COMM_WORLD);
    memcpy(inner, ring.requests, sizeof ring.requests);
    CHECK_OK(MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &inner[2]));
    CHECK_OK(MPIX_Put_init(&source, 1, MPI_INT, next, 0, 1, MPI_INT, win, MPI_INFO_NULL, &inner[3]));
    CHECK_OK(MPI_Psend_init(part_out, partitions, each, MPI_INT, next, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &inner[4]));
    CHECK_OK(MPI_Precv_init(part_in, partitions, each, MPI_INT, previous, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &inner[5]));
    CHECK_OK(MPIX_Bundle_init(6, inner, MPI_INFO_NULL, &members[0]));
    memcpy(members + 1, outer.requests, sizeof outer.requests);
    CHECK_OK(MPIX_Bundle_init(3, members, MPI_INFO_NULL, &bundle));
    MPI_Win_lock_all(0, win);
    for (int round = 0; round < rounds; ++round) {
        one = rank + round;
        sum = -1;
        source = value(rank, round, 1);
        ring_fill(&ring, 20, round);
        ring_fill(&outer, 7, round + 1);
        for (int i = 0; i < partitions * each; ++i) {
            part_out[i] = value(rank, round, i);
        }
        CHECK_OK(MPI_Start(&bundle));
        int done = 1;
        CHECK_OK(MPI_Test(&bundle, &done, MPI_STATUS_IGNORE));
        CHECK_EQUAL(done, 0); /* no partition is ready */
        CHECK_OK(MPI_Pready_range(1, partitions - 1, inner[4]));
        CHECK_OK(MPI_Pready(0, inner[4]));
        CHECK_OK(MPI_Wait(&bundle, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Parrived(inner[5], partitions - 1, &done));
        CHECK_EQUAL(done, 1);
        CHECK_EQUAL(sum, size * (size - 1) / 2 + size * round);
        ring_check(&ring, 20, round);
        ring_check(&outer, 7, round + 1);
        int wrong = 0;
        for (int i = 0; i < partitions * each; ++i) {
            wrong += part_in[i] != value(previous, round, i);
        }
        CHECK_EQUAL(wrong, 0);
        MPI_Win_flush_all(win);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_sync(win);
        CHECK_EQUAL(*memory, value(previous, round, 1));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_unlock_all(win);
    CHECK_OK(MPI_Request_free(&bundle));
    free_all(3, members);
    free_all(6, inner);
    MPI_Win_free(&win);
}

static void test_empty(void) {
    MPI_Request nothing, null, bundle;
    CHECK_OK(MPIX_Bundle_init(0, NULL, MPI_INFO_NULL, &nothing));
    run(&nothing, 0);
    run(&nothing, 1);
    CHECK_OK(MPI_Send_init(&size, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &null));
    MPI_Request both[2] = {nothing, null};
    CHECK_OK(MPIX_Bundle_init(2, both, MPI_INFO_NULL, &bundle));
    run(&bundle, 0);
    run(&bundle, 2);
    CHECK_OK(MPI_Request_free(&bundle));
    free_all(2, both);
}

/* Some ranks have bundles, and others the plain requests that match. */
static void test_against_plain(void) {
    static struct ring ring;
    MPI_Request bundle = MPI_REQUEST_NULL;
    ring_init(&ring, 11, 5, MPI_COMM_WORLD);
    if (rank % 2 == 0) {
        CHECK_OK(MPIX_Bundle_init(2, ring.requests, MPI_INFO_NULL, &bundle));
    }
    for (int round = 0; round < rounds; ++round) {
        ring_fill(&ring, 11, round);
        if (bundle != MPI_REQUEST_NULL) {
            run(&bundle, round);
        } else {
            CHECK_OK(MPI_Startall(2, ring.requests));
            CHECK_OK(MPI_Waitall(2, ring.requests, MPI_STATUSES_IGNORE));
        }
        ring_check(&ring, 11, round);
    }
    if (bundle != MPI_REQUEST_NULL) {
        CHECK_OK(MPI_Request_free(&bundle));
    }
    free_all(2, ring.requests);
}

int main(void) {
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    test_messages();
    test_mixture();
    test_empty();
    test_against_plain();
    return finish();
}
