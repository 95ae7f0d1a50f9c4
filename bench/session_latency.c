/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of a message on a session's communicator against one on MPI_COMM_WORLD, between ranks 0 and 1. One run
   measures each pair of figures alternately and prints both figures and their ratio.
     latency, rate          on MPI_COMM_WORLD and a session's communicator that has been used before
     first_exchange         half round trip of the very first messages on a communicator
     fresh_rate             message rate of the first messages on it, with no message on it before
   There is only one MPI_COMM_WORLD: its first messages are measured on duplicates with a uniform CID (Patchbay's info
   key patchbay_cid, which other libraries ignore), which need no exCID handshake. */
#include "metric.h"
#include <mpi.h>

enum { chunks = 41, window = 64, fresh = 64, half = fresh / 2 };
enum { rounds = 2000 / BENCH_DIVISOR, windows = 200 / BENCH_DIVISOR };

#if MPI_VERSION >= 4
enum { kinds = 2 };
#else
enum { kinds = 1 };
#endif
static const char* const kind_names[] = {"world", "session"};

static char buffer[8 * window];
static int rank;

static double half_round_trip(MPI_Comm comm, int count) {
    const double start = MPI_Wtime();
    for (int i = 0; i < count; i++) {
        if (rank == 0) {
            MPI_Send(buffer, 8, MPI_BYTE, 1, 1, comm);
            MPI_Recv(buffer, 8, MPI_BYTE, 1, 1, comm, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(buffer, 8, MPI_BYTE, 0, 1, comm, MPI_STATUS_IGNORE);
            MPI_Send(buffer, 8, MPI_BYTE, 0, 1, comm);
        }
    }
    return (MPI_Wtime() - start) / count / 2 * 1e6;
}

/* A window of messages to rank 1; rank 1 replies on `back`. */
static void send_window(MPI_Comm comm, MPI_Comm back) {
    MPI_Request requests[window];
    for (int i = 0; i < window; i++) {
        if (rank == 0) {
            MPI_Isend(buffer + 8 * i, 8, MPI_BYTE, 1, 2, comm, &requests[i]);
        } else {
            MPI_Irecv(buffer + 8 * i, 8, MPI_BYTE, 0, 2, comm, &requests[i]);
        }
    }
    MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
    if (rank == 0) {
        MPI_Recv(buffer, 0, MPI_BYTE, 1, 3, back, MPI_STATUS_IGNORE);
    } else {
        MPI_Send(buffer, 0, MPI_BYTE, 0, 3, back);
    }
}

static double rate(MPI_Comm comm, int count) {
    const double start = MPI_Wtime();
    for (int w = 0; w < count; w++) {
        send_window(comm, comm);
    }
    return (double)count * window / (MPI_Wtime() - start) / 1e6;
}

/* Prints the figures of both kinds; the ratio is the median of the ratios of the samples. */
static void state(const char* name, double samples[kinds][chunks], const char* unit, const char* better) {
    double ratios[chunks];
    char text[64];
    if (rank != 0) {
        return;
    }
    for (int k = 0; k < chunks; k++) {
        ratios[k] = samples[kinds - 1][k] / samples[0][k];
    }
    for (int kind = 0; kind < kinds; kind++) {
        snprintf(text, sizeof text, "%s_%s", kind_names[kind], name);
        metric(text, metric_median(samples[kind], chunks), unit, better);
    }
    if (kinds > 1) {
        snprintf(text, sizeof text, "ratio_%s", name);
        metric(text, metric_median(ratios, chunks), "x", better);
    }
}

struct maker {
    MPI_Comm world; /* ranks 0 and 1 of the world */
    MPI_Info equal_index;
#if MPI_VERSION >= 4
    MPI_Group group; /* the same two ranks, from the session's process set */
#endif
};

static MPI_Comm make(const struct maker* maker, int kind) {
    MPI_Comm comm;
#if MPI_VERSION >= 4
    if (kind == 1) {
        MPI_Comm_create_from_group(maker->group, "bench.latency", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
        return comm;
    }
#endif
    (void)kind;
    MPI_Comm_dup_with_info(maker->world, maker->equal_index, &comm);
    return comm;
}

static void used_before(const struct maker* maker) {
    double latencies[kinds][chunks], rates[kinds][chunks];
    MPI_Comm comms[kinds];
    for (int kind = 0; kind < kinds; kind++) {
        comms[kind] = kind == 0 ? MPI_COMM_WORLD : make(maker, kind);
        half_round_trip(comms[kind], rounds);
        rate(comms[kind], windows);
    }
    for (int k = 0; k < chunks; k++) {
        for (int n = 0; n < kinds; n++) {
            const int kind = (n + k) % kinds;
            latencies[kind][k] = half_round_trip(comms[kind], rounds);
            rates[kind][k] = rate(comms[kind], windows);
        }
    }
    for (int kind = 1; kind < kinds; kind++) {
        MPI_Comm_free(&comms[kind]);
    }
    state("latency", latencies, "us", "lower");
    state("rate", rates, "M/s", "higher");
}

/* The first message on each of many communicators. */
static void never_used(const struct maker* maker) {
    double exchanges[kinds][chunks], rates[kinds][chunks];
    MPI_Comm comms[fresh];
    for (int k = 0; k < chunks; k++) {
        for (int n = 0; n < kinds; n++) {
            const int kind = (n + k) % kinds;
            for (int i = 0; i < fresh; i++) {
                comms[i] = make(maker, kind);
            }
            half_round_trip(maker->world, 10);
            double sum = 0;
            for (int i = 0; i < half; i++) {
                sum += half_round_trip(comms[i], 1);
            }
            exchanges[kind][k] = sum / half;
            half_round_trip(maker->world, 10);
            const double start = MPI_Wtime();
            for (int i = half; i < fresh; i++) {
                send_window(comms[i], maker->world);
            }
            rates[kind][k] = half * window / (MPI_Wtime() - start) / 1e6;
            for (int i = 0; i < fresh; i++) {
                MPI_Comm_free(&comms[i]);
            }
        }
    }
    state("first_exchange", exchanges, "us", "lower");
    state("fresh_rate", rates, "M/s", "higher");
}

int main(int argc, char** argv) {
    struct maker maker;
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2) {
        fprintf(stderr, "session_latency needs two ranks: mpirun -n 2 ...\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, rank, &maker.world);
    MPI_Info_create(&maker.equal_index);
    MPI_Info_set(maker.equal_index, "patchbay_cid", "consensus");
    if (rank < 2) {
#if MPI_VERSION >= 4
        MPI_Session session;
        MPI_Group all;
        const int both[] = {0, 1};
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
        MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
        MPI_Group_incl(all, 2, both, &maker.group);
#endif
        used_before(&maker);
        never_used(&maker);
#if MPI_VERSION >= 4
        MPI_Group_free(&maker.group);
        MPI_Group_free(&all);
        MPI_Session_finalize(&session);
#endif
        MPI_Comm_free(&maker.world);
    }
    MPI_Info_free(&maker.equal_index);
    MPI_Finalize();
    return 0;
}
