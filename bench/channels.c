/* SPDX-License-Identifier: BSD-3-Clause */
/* One message between ranks 0 and 1 by plain calls, by persistent requests, or by channels (mpix.h); the figures have
   the same names, so that patchbay-ab compares the ways.

     channels pingpong [SIZE,...] WAY   half round trip; WAY: plain, persistent, channel
     channels rate WAY                  messages of 8 bytes; channel: of slackness 1 to 16 with a synchronous send;
                                        plain: MPI_Isend with a window of 64, under the name of each slackness

   A channel is ready: each receive is started before the message to which the send is an answer. The other ways start
   theirs at the same places. */
#include "metric.h"
#include "sizes.h"

#include <mpi.h>

#if defined(__has_include)
#if __has_include(<mpix.h>)
#include <mpix.h>
#define HAS_CHANNELS 1
#endif
#endif

enum { chunks = 15, largest = 1 << 20, partners = 2, window_messages = 64 };
enum way { plain, persistent, channel };

static char *out, *in;
static int rank, partner;

static void fail(const char* text) {
    fprintf(stderr, "channels: %s\n", text);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

static enum way way_of(const char* name) {
    if (strcmp(name, "plain") == 0) {
        return plain;
    }
    if (strcmp(name, "persistent") == 0) {
        return persistent;
    }
#ifdef HAS_CHANNELS
    if (strcmp(name, "channel") == 0) {
        return channel;
    }
#endif
    fail("WAY is plain, persistent or, where the MPI has them, channel");
    return plain;
}

/* The persistent requests of a message in each direction; requests[0] receives. */
static MPI_Request made[2], requests[2];

static void make_requests(enum way way, int size) {
    MPI_Recv_init(in, size, MPI_BYTE, partner, 1, MPI_COMM_WORLD, &made[0]);
    MPI_Send_init(out, size, MPI_BYTE, partner, 1, MPI_COMM_WORLD, &made[1]);
    memcpy(requests, made, sizeof requests);
#ifdef HAS_CHANNELS
    if (way == channel) {
        MPIX_Bind_channels(made, requests, 2, NULL);
    }
#else
    (void)way;
#endif
}

static void free_requests(enum way way) {
#ifdef HAS_CHANNELS
    if (way == channel) {
        MPIX_Unbind_channels(requests, 2);
    }
#else
    (void)way;
#endif
    MPI_Request_free(&made[0]);
    MPI_Request_free(&made[1]);
}

static double plain_round_trips(int size, int rounds) {
    const double start = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        if (rank == 0) {
            MPI_Send(out, size, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(in, size, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(in, size, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(out, size, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
    }
    return MPI_Wtime() - start;
}

/* The receive of rank 1 is always one round ahead. */
static double round_trips(int rounds) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Start(&requests[0]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        if (rank == 0) {
            MPI_Start(&requests[0]);
            MPI_Start(&requests[1]);
            MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
            MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        } else {
            MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
            if (i + 1 < rounds) {
                MPI_Start(&requests[0]);
            }
            MPI_Start(&requests[1]);
            MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        }
    }
    return MPI_Wtime() - start;
}

static double half_round_trip(enum way way, int size, int rounds) {
    return (way == plain ? plain_round_trips(size, rounds) : round_trips(rounds)) / rounds / 2;
}

/* A fifth of a second a size. */
static int rounds_for(double seconds) {
    double rounds = 0.2 / BENCH_DIVISOR / chunks / 2 / seconds;
    int whole = rounds > 100000 ? 100000 : rounds < 3 ? 3 : (int)rounds;
    MPI_Bcast(&whole, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return whole;
}

static void pingpong(enum way way, const char* sizes) {
    for (long size = next_size(&sizes); size > 0; size = next_size(&sizes)) {
        double samples[chunks];
        char label[32], name[64];
        if (size > largest) {
            fail("a size is above 1 MiB");
        }
        if (way != plain) {
            make_requests(way, (int)size);
        }
        half_round_trip(way, (int)size, 10);
        const int rounds = rounds_for(half_round_trip(way, (int)size, 10));
        for (int k = 0; k < chunks; k++) {
            samples[k] = half_round_trip(way, (int)size, rounds) * 1e6;
        }
        if (way != plain) {
            free_requests(way);
        }
        size_label(label, sizeof label, size);
        snprintf(name, sizeof name, "half_round_trip_%s", label);
        if (rank == 0) {
            metric(name, metric_median(samples, chunks), "us", "lower");
        }
    }
}

/* Messages per second from rank 0 to rank 1, in millions. */
static double window_rate(int rounds) {
    MPI_Request window_requests[window_messages];
    const double start = MPI_Wtime();
    for (int w = 0; w < rounds; w++) {
        for (int i = 0; i < window_messages; i++) {
            if (rank == 0) {
                MPI_Isend(out + 8 * i, 8, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &window_requests[i]);
            } else {
                MPI_Irecv(in + 8 * i, 8, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &window_requests[i]);
            }
        }
        MPI_Waitall(window_messages, window_requests, MPI_STATUSES_IGNORE);
        if (rank == 0) {
            MPI_Recv(in, 0, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Send(out, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
        }
    }
    return (double)rounds * window_messages / (MPI_Wtime() - start) / 1e6;
}

static void print_rate(int slackness, double rate) {
    char name[64];
    snprintf(name, sizeof name, "message_rate_slack_%02d", slackness);
    if (rank == 0) {
        metric(name, rate, "M/s", "higher");
    }
}

static void plain_rates(void) {
    double samples[chunks];
    const int rounds = 500 / BENCH_DIVISOR + 1;
    window_rate(rounds);
    for (int k = 0; k < chunks; k++) {
        samples[k] = window_rate(rounds);
    }
    const double rate = metric_median(samples, chunks);
    for (int slackness = 1; slackness <= 16; slackness *= 2) {
        print_rate(slackness, rate);
    }
}

#ifdef HAS_CHANNELS
static double slack_rate(MPI_Request* bound, int slackness, int messages) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < messages; i++) {
        if (i >= slackness) {
            MPI_Wait(bound, MPI_STATUS_IGNORE);
        }
        MPI_Start(bound);
    }
    for (int i = 0; i < slackness; i++) {
        MPI_Wait(bound, MPI_STATUS_IGNORE);
    }
    return messages / (MPI_Wtime() - start) / 1e6;
}

static void channel_rates(void) {
    double samples[chunks];
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "address_base_increment", "8");
    for (int slackness = 1; slackness <= 16; slackness *= 2) {
        MPI_Request request, bound;
        if (rank == 0) {
            MPI_Ssend_init(out, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
        } else {
            MPI_Recv_init(in, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
        }
        MPIX_Bind_slack_channel(request, &bound, slackness, info);
        const int messages = 20000 / BENCH_DIVISOR + slackness;
        slack_rate(&bound, slackness, messages);
        for (int k = 0; k < chunks; k++) {
            samples[k] = slack_rate(&bound, slackness, messages);
        }
        MPIX_Unbind_channel(&bound);
        MPI_Request_free(&request);
        print_rate(slackness, metric_median(samples, chunks));
    }
    MPI_Info_free(&info);
}
#endif

int main(int argc, char** argv) {
    int ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != partners || argc < 3) {
        fail("needs two ranks, and the arguments: pingpong [SIZE,...] or rate, and plain, persistent or channel");
    }
    partner = 1 - rank;
    const enum way way = way_of(argv[argc - 1]);
    MPI_Alloc_mem(largest, MPI_INFO_NULL, &out);
    MPI_Alloc_mem(largest, MPI_INFO_NULL, &in);
    memset(out, 1, largest);
    memset(in, 0, largest);
    if (strcmp(argv[1], "pingpong") == 0) {
        pingpong(way, argc > 3 ? argv[2] : "8,64,512,4096,16384,65536,262144,1048576");
    } else if (strcmp(argv[1], "rate") == 0) {
#ifdef HAS_CHANNELS
        if (way == channel) {
            channel_rates();
        } else {
            plain_rates();
        }
#else
        plain_rates();
#endif
    } else {
        fail("the first argument is pingpong or rate");
    }
    MPI_Free_mem(out);
    MPI_Free_mem(in);
    MPI_Finalize();
    return 0;
}
