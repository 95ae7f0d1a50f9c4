/* SPDX-License-Identifier: BSD-3-Clause */
/* Time of a collective by size, as a blocking call or as MPI_Start and MPI_Wait of a persistent request.
     persistent_collectives blocking|persistent|timed|ratio [FUNCTION,... [SIZE,...]]

   timed: persistent, and the initialization chooses the schedule by time (info key patchbay_effort, value 3).

   ratio: the time of the persistent request by that of the blocking call, in pairs of some milliseconds each, which
   does not change with the place of the processes as each of the times does.

   FUNCTION: barrier bcast reduce allreduce allgather alltoall, or all.

   SIZE: bytes of the vector, or of the block of one rank; at least 8. */
#include "repeat.h"
#include "sizes.h"

#if defined(OPEN_MPI) && MPI_VERSION < 4 /* as an extension */
#include <mpi-ext.h>
#define INIT(function, ...) MPIX_##function##_init(__VA_ARGS__, MPI_COMM_WORLD, info, &request)
#define BARRIER_INIT() MPIX_Barrier_init(MPI_COMM_WORLD, info, &request)
#else
#define INIT(function, ...) MPI_##function##_init(__VA_ARGS__, MPI_COMM_WORLD, info, &request)
#define BARRIER_INIT() MPI_Barrier_init(MPI_COMM_WORLD, info, &request)
#endif

enum { most_total = 64 << 20 };

static double *out, *in;
static int count; /* doubles */
static MPI_Request request;
static MPI_Info info;

static void start_and_wait(void* unused) {
    (void)unused;
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Each function: its blocking call, and the call that makes the persistent request. */
#define COLLECTIVE(name, function, ...)                                                                                \
    static void name(void* unused) {                                                                                   \
        (void)unused;                                                                                                  \
        MPI_##function(__VA_ARGS__, MPI_COMM_WORLD);                                                                   \
    }                                                                                                                  \
    static void name##_init(void) {                                                                                    \
        INIT(function, __VA_ARGS__);                                                                                   \
    }
COLLECTIVE(bcast, Bcast, in, count, MPI_DOUBLE, 0)
COLLECTIVE(reduce, Reduce, out, in, count, MPI_DOUBLE, MPI_SUM, 0)
COLLECTIVE(allreduce, Allreduce, out, in, count, MPI_DOUBLE, MPI_SUM)
COLLECTIVE(allgather, Allgather, out, count, MPI_DOUBLE, in, count, MPI_DOUBLE)
COLLECTIVE(alltoall, Alltoall, out, count, MPI_DOUBLE, in, count, MPI_DOUBLE)

static void barrier(void* unused) {
    (void)unused;
    MPI_Barrier(MPI_COMM_WORLD);
}
static void barrier_init(void) {
    BARRIER_INIT();
}

static const struct collective {
    const char* name;
    void (*blocking)(void*);
    void (*init)(void);
    int by_rank; /* the size is that of the block of one rank */
} collectives[] = {
    {"barrier", barrier, barrier_init, 0},
    {"bcast", bcast, bcast_init, 0},
    {"reduce", reduce, reduce_init, 0},
    {"allreduce", allreduce, allreduce_init, 0},
    {"allgather", allgather, allgather_init, 1},
    {"alltoall", alltoall, alltoall_init, 1},
};

static int listed(const char* list, const char* name) {
    const size_t length = strlen(name);
    for (const char* at = list; (at = strstr(at, name)) != NULL; at += length) {
        if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0')) {
            return 1;
        }
    }
    return strcmp(list, "all") == 0;
}

static void measure(const struct collective* what, int persistent, const char* label) {
    char name[80];
    snprintf(name, sizeof name, "%s%s%s", what->name, *label ? "_" : "", label);
    const struct repeated repeated = {name, persistent ? start_and_wait : what->blocking, NULL, NULL, 20000};
    if (persistent) {
        what->init();
    }
    repeat(&repeated, MPI_COMM_WORLD);
    if (persistent) {
        MPI_Request_free(&request);
    }
}

static void compare(const struct collective* what, const char* label) {
    enum { pairs = 60 };
    double ratios[pairs];
    char name[80];
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "%s%s%s_ratio", what->name, *label ? "_" : "", label);
    const struct repeated ways[] = {
        {name, what->blocking, NULL, NULL, 0},
        {name, start_and_wait, NULL, NULL, 0},
    };
    what->init();
    repeat_mean(&ways[0], MPI_COMM_WORLD, 20); /* warm-up */
    repeat_mean(&ways[1], MPI_COMM_WORLD, 20);
    int rounds = (int)(0.003 / BENCH_DIVISOR / repeat_mean(&ways[0], MPI_COMM_WORLD, 4));
    rounds = rounds < 3 ? 3 : rounds;
    MPI_Bcast(&rounds, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int pair = 0; pair < pairs; pair++) {
        double mean[2];
        for (int turn = 0; turn < 2; turn++) {
            const int way = (pair + turn) % 2; /* each goes first as often as the other one */
            mean[way] = repeat_mean(&ways[way], MPI_COMM_WORLD, rounds);
        }
        ratios[pair] = mean[1] / mean[0];
    }
    MPI_Request_free(&request);
    if (rank == 0) {
        metric(name, metric_median(ratios, pairs), "x", "lower");
    }
}

int main(int argc, char** argv) {
    int ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char* way = argc > 1 ? argv[1] : "";
    const int timed = strcmp(way, "timed") == 0, persistent = timed || strcmp(way, "persistent") == 0;
    const int ratio = strcmp(way, "ratio") == 0;
    if (!persistent && !ratio && strcmp(way, "blocking") != 0) {
        fprintf(stderr, "usage: %s blocking|persistent|timed|ratio [FUNCTION,... [SIZE,...]]\n", argv[0]);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    info = MPI_INFO_NULL;
    if (timed) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "patchbay_effort", "3");
    }
    const char* functions = argc > 2 ? argv[2] : "all";
    const char* sizes = argc > 3 ? argv[3] : "8,512,4096,32768,262144,1048576";
    out = malloc(most_total);
    in = malloc(most_total);
    memset(out, 0, most_total);
    memset(in, 0, most_total);
    for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++) {
        const struct collective* what = &collectives[i];
        if (!listed(functions, what->name)) {
            continue;
        }
        if (what->init == barrier_init) {
            ratio ? compare(what, "") : measure(what, persistent, "");
            continue;
        }
        const char* list = sizes;
        for (long bytes = next_size(&list); bytes != 0; bytes = next_size(&list)) {
            if (bytes < 8 || bytes * (what->by_rank ? ranks : 1) > most_total) {
                continue;
            }
            char label[32];
            size_label(label, sizeof label, bytes);
            count = (int)(bytes / 8);
            ratio ? compare(what, label) : measure(what, persistent, label);
        }
    }
    if (timed) {
        MPI_Info_free(&info);
    }
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
