/* SPDX-License-Identifier: BSD-3-Clause */
/* Millions of messages that no receive waits for. From other processes: the receiver stops them at
 * pml_ob1_unexpected_limit bytes for each sender, so that its resident memory is bounded, however much they have
 * still to send. From the process itself: a message takes no more than a small multiple of its size, and what is
 * received gives its memory to the next. Argument: that limit in KiB. */
#define _GNU_SOURCE
#include "tests/mpi_check/check.h"
#include "tests/mpi_check/shared_ints.h"

#include <stdlib.h>

enum { messages = 2000000, flood_tag = 1 };

static int rank, size;
static MPI_Comm other;

static long resident_kib(void) {
    char line[256];
    long kib = -1;
    FILE* file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "VmRSS: %ld", &kib) == 1) {
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    CHECK(kib > 0);
    return kib;
}

/* Polls without receiving, until xoff may have been sent and no sender sends any more. Returns the memory that the
 * messages took. */
static long look_away(const int* sent, long enough) {
    const long before = resident_kib();
    long grown = 0, last = -1;
    for (int still = 0; grown < enough || still < 50;) {
        for (int i = 0; i < 2000; i++) {
            int found = 0;
            MPI_Iprobe(MPI_ANY_SOURCE, flood_tag, other, &found, MPI_STATUS_IGNORE);
            CHECK(!found);
        }
        long now = 0;
        for (int i = 1; i < size; i++) {
            now += shared_get(&sent[i]);
        }
        still = now == last ? still + 1 : 0;
        last = now;
        usleep(1000); /* leaves the cores to the senders */
        grown = resident_kib() - before;
    }
    return grown;
}

static void receive_all(int from_each) {
    int* expected = calloc((size_t)size, sizeof *expected);
    int good = 1;
    for (long i = 0; i < (long)from_each * (size - 1); i++) {
        MPI_Status status;
        int value = -1;
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, flood_tag, MPI_COMM_WORLD, &status);
        good = good && value == expected[status.MPI_SOURCE]++;
    }
    CHECK(good);
    free(expected);
}

static void from_others(long limit_kib) {
    const int from_each = messages / (size - 1);
    const long limit = limit_kib * (size - 1);
    int* sent = shared_ints(MPI_COMM_WORLD, size); /* how many messages each sender has sent */
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0) {
        for (int i = 0; i < from_each; i++) {
            MPI_Send(&i, 1, MPI_INT, 0, flood_tag, MPI_COMM_WORLD);
            shared_set(&sent[rank], i + 1);
        }
    } else {
        const long before = resident_kib();
        const long flooded = look_away(sent, limit / 4 * 3);
        receive_all(from_each);
        const long after = resident_kib() - before;
        fprintf(stderr, "limit %ld KiB for all senders, grew by %ld KiB, then %ld\n", limit, flooded, after);
        CHECK(flooded < limit + limit / 4 + 2048);
        CHECK(after < limit + limit / 4 + 2048);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void from_itself(void) {
    enum { at_once = messages / 2, most_bytes = 600 };
    static MPI_Request requests[at_once];
    static int values[at_once];
    long before = 0, grown[2] = {0, 0};
    for (int i = 0; i < at_once; i++) { /* the program needs these pages itself */
        requests[i] = MPI_REQUEST_NULL;
        values[i] = i;
    }
    before = resident_kib();
    for (int round = 0; round < 2; round++) {
        int good = 1, value = -1;
        for (int i = 0; i < at_once; i++) {
            MPI_Isend(&values[i], 1, MPI_INT, 0, flood_tag, MPI_COMM_SELF, &requests[i]);
        }
        grown[round] = resident_kib() - before;
        for (int i = 0; i < at_once; i++) {
            MPI_Recv(&value, 1, MPI_INT, 0, flood_tag, MPI_COMM_SELF, MPI_STATUS_IGNORE);
            good = good && value == i;
        }
        MPI_Waitall(at_once, requests, MPI_STATUSES_IGNORE);
        CHECK(good);
    }
    fprintf(stderr, "%d messages to itself: grew by %ld KiB, then by %ld\n", at_once, grown[0], grown[1]);
    CHECK(grown[0] > at_once / 1024 * 4); /* they were kept */
    CHECK(grown[0] < (long)at_once * most_bytes / 1024);
    CHECK(grown[1] < grown[0] + grown[0] / 20);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &other); /* without messages: probing it looks at none */
    if (size > 1) {
        from_others(argc > 1 ? atol(argv[1]) : 16384);
    } else {
        from_itself();
    }
    MPI_Comm_free(&other);
    MPI_Finalize();
    return failures();
}
