/* SPDX-License-Identifier: BSD-3-Clause */
/* Microseconds per message by size, for the ways in which large messages follow each other. Every even rank has the
   next one as its partner, and all pairs run at the same time. streams [WAY,... [SIZE,...]] WAY is one of these, or
   all: pingpong: one message at a time, there and back from the same buffer; half a round trip exchange: one in each
   direction at once (MPI_Sendrecv); what was received is sent next serial:   one direction, each MPI_Send returns
   before the next one; always the same message produced: the same, but the sender writes the message before it sends
   it, and that time counts window:   one direction, 16 at once (MPI_Isend, MPI_Waitall); always the same message SIZE:
   bytes, up to 16777216; some from 1 KiB to 4 MiB by default. A transfer that reads the sender's memory in place leaves
   its cache lines with the receiver, so that the sender pays when it writes there again; and what has not changed the
   receiver has in its cache. Hence `serial` and `produced`. */
#include "repeat.h"

#include <string.h>

enum { largest = 16 << 20, window_size = 16 };

static char *send_buffer, *recv_buffer;
static int size, rank, partner, content;

static void there(const char* buffer) {
    MPI_Send(buffer, size, MPI_BYTE, partner, 1, MPI_COMM_WORLD);
}
static void back(void) {
    MPI_Recv(recv_buffer, size, MPI_BYTE, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void pingpong(void* unused) {
    (void)unused;
    if (rank % 2 == 0) {
        there(recv_buffer);
        back();
    } else {
        back();
        there(recv_buffer);
    }
}
static void exchange(void* unused) {
    (void)unused;
    MPI_Sendrecv(send_buffer, size, MPI_BYTE, partner, 1, recv_buffer, size, MPI_BYTE, partner, 1, MPI_COMM_WORLD,
        MPI_STATUS_IGNORE);
    char* received = recv_buffer;
    recv_buffer = send_buffer;
    send_buffer = received;
}
static void serial(void* unused) {
    (void)unused;
    if (rank % 2 == 0) {
        there(send_buffer);
    } else {
        back();
    }
}
static void produced(void* unused) {
    if (rank % 2 == 0) {
        memset(send_buffer, ++content, (size_t)size);
    }
    serial(unused);
}
static void window(void* unused) {
    MPI_Request requests[window_size];
    (void)unused;
    for (int i = 0; i < window_size; i++) {
        if (rank % 2 == 0) {
            MPI_Isend(send_buffer, size, MPI_BYTE, partner, 1, MPI_COMM_WORLD, &requests[i]);
        } else {
            MPI_Irecv(recv_buffer, size, MPI_BYTE, partner, 1, MPI_COMM_WORLD, &requests[i]);
        }
    }
    MPI_Waitall(window_size, requests, MPI_STATUSES_IGNORE);
}

static const struct way {
    const char* name;
    void (*run)(void*);
    int messages; /* one after the other in one direction */
} ways[] = {{"pingpong", pingpong, 2}, {"exchange", exchange, 1}, {"serial", serial, 1}, {"produced", produced, 1},
    {"window", window, window_size}};

static int listed(const char* list, const char* name) {
    const size_t length = strlen(name);
    for (const char* at = list; (at = strstr(at, name)) != NULL; at += length) {
        if ((at == list || at[-1] == ',') && (at[length] == '\0' || at[length] == ',')) {
            return 1;
        }
    }
    return strcmp(list, "all") == 0;
}

static void measure(const struct way* way) {
    enum { chunks = 7 };
    const struct repeated what = {way->name, way->run, NULL, NULL, 0};
    double samples[chunks];
    char name[64];
    repeat_mean(&what, MPI_COMM_WORLD, 5); /* warm-up */
    int rounds = (int)(0.2 / BENCH_DIVISOR / chunks / repeat_mean(&what, MPI_COMM_WORLD, 4));
    rounds = rounds < 3 ? 3 : rounds > 100000 ? 100000 : rounds;
    MPI_Bcast(&rounds, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int k = 0; k < chunks; k++) {
        samples[k] = repeat_mean(&what, MPI_COMM_WORLD, rounds) / way->messages * 1e6;
    }
    if (rank == 0) {
        snprintf(name, sizeof name, "%s_%d", way->name, size);
        metric(name, metric_median(samples, chunks), "us", "lower");
    }
}

int main(int argc, char** argv) {
    int ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    partner = rank ^ 1;
    if (ranks % 2 != 0) {
        fprintf(stderr, "streams needs an even number of ranks: mpirun -n 2 ...\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    send_buffer = malloc(largest);
    recv_buffer = malloc(largest);
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        if (!listed(argc > 1 ? argv[1] : "all", ways[w].name)) {
            continue;
        }
        const char* next = argc > 2 ? argv[2] : "1024,4096,16384,32768,65536,131072,262144,1048576,4194304";
        while (next != NULL) {
            size = atoi(next);
            if (size < 1 || size > largest) {
                fprintf(stderr, "streams: size %d\n", size);
                MPI_Abort(MPI_COMM_WORLD, 2);
            }
            memset(send_buffer, 1, (size_t)size);
            memset(recv_buffer, 1, (size_t)size);
            measure(&ways[w]);
            next = strchr(next, ',');
            next = next == NULL ? NULL : next + 1;
        }
    }
    free(send_buffer);
    free(recv_buffer);
    MPI_Finalize();
    return 0;
}
