/* SPDX-License-Identifier: BSD-3-Clause */
/* Time of each collective by size, and how many pages of memory a call takes from the system.
     collective_sizes [FUNCTION,... [SIZE,... [written]]]
   FUNCTION: barrier bcast reduce allreduce gather scatter allgather alltoall reduce_scatter_block scan exscan, or all.
   SIZE: bytes of the vector, or of the block of one rank; from 8 to 16777216, those by default in steps of 8.
   written: each rank writes what it sends before each call, which is not timed. Without it no rank ever changes its
   send buffer, so that a core that reads the memory of another one finds it in its own cache from the second call on.
 */
#include "repeat.h"

#include <string.h>
#include <sys/resource.h>

enum { largest = 16 << 20, most_total = 64 << 20 };

static char *send_buffer, *recv_buffer;
static int count; /* doubles */
static int ranks;

static void barrier(void* unused) {
    (void)unused;
    MPI_Barrier(MPI_COMM_WORLD);
}
static void bcast(void* unused) {
    (void)unused;
    MPI_Bcast(recv_buffer, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}
static void reduce(void* unused) {
    (void)unused;
    MPI_Reduce(send_buffer, recv_buffer, count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}
static void allreduce(void* unused) {
    (void)unused;
    MPI_Allreduce(send_buffer, recv_buffer, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void gather(void* unused) {
    (void)unused;
    MPI_Gather(send_buffer, count, MPI_DOUBLE, recv_buffer, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}
static void scatter(void* unused) {
    (void)unused;
    MPI_Scatter(send_buffer, count, MPI_DOUBLE, recv_buffer, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}
static void allgather(void* unused) {
    (void)unused;
    MPI_Allgather(send_buffer, count, MPI_DOUBLE, recv_buffer, count, MPI_DOUBLE, MPI_COMM_WORLD);
}
static void alltoall(void* unused) {
    (void)unused;
    MPI_Alltoall(send_buffer, count, MPI_DOUBLE, recv_buffer, count, MPI_DOUBLE, MPI_COMM_WORLD);
}
static void reduce_scatter_block(void* unused) {
    (void)unused;
    MPI_Reduce_scatter_block(send_buffer, recv_buffer, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void scan(void* unused) {
    (void)unused;
    MPI_Scan(send_buffer, recv_buffer, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void exscan(void* unused) {
    (void)unused;
    MPI_Exscan(send_buffer, recv_buffer, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static const struct collective {
    const char* name;
    void (*run)(void*);
    int by_rank;     /* the size is that of the block of one rank */
    int blocks_sent; /* a rank sends a block to each rank */
} collectives[] = {
    {"barrier", barrier, 0, 0},
    {"bcast", bcast, 0, 0},
    {"reduce", reduce, 0, 0},
    {"allreduce", allreduce, 0, 0},
    {"gather", gather, 1, 0},
    {"scatter", scatter, 1, 1},
    {"allgather", allgather, 1, 0},
    {"alltoall", alltoall, 1, 1},
    {"reduce_scatter_block", reduce_scatter_block, 1, 1},
    {"scan", scan, 0, 0},
    {"exscan", exscan, 0, 0},
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

static long faults(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

/* The mean of some calls on the slowest rank, each after its send buffer has been written, in seconds. */
static double written_mean(const struct collective* what, int rounds) {
    const size_t bytes = (size_t)count * 8 * (size_t)(what->blocks_sent ? ranks : 1);
    double total = 0, worst;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < rounds; i++) {
        if (what->run != bcast) {
            memset(send_buffer, i, bytes);
        } else if (rank == 0) {
            memset(recv_buffer, i, bytes);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        what->run(NULL);
        total += MPI_Wtime() - start;
    }
    total /= rounds;
    MPI_Allreduce(&total, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return worst;
}

/* As repeat(). */
static void measure_written(const struct collective* what, const char* label) {
    enum { chunks = 7, most = 2000 };
    double samples[chunks];
    char name[80];
    int rank, rounds;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    written_mean(what, 3);
    rounds = (int)(0.3 / BENCH_DIVISOR / chunks / written_mean(what, 4));
    rounds = rounds < 3 ? 3 : rounds > most ? most : rounds;
    MPI_Bcast(&rounds, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int k = 0; k < chunks; k++) {
        samples[k] = written_mean(what, rounds) * 1e6;
    }
    snprintf(name, sizeof name, "%s_%s_written", what->name, label);
    if (rank == 0) {
        metric(name, metric_median(samples, chunks), "us", "lower");
    }
}

static long most_faults; /* of a call */

static void measure(const struct collective* what, const char* label) {
    enum { calls = 4 };
    char name[80];
    snprintf(name, sizeof name, "%s%s%s", what->name, *label ? "_" : "", label);
    const struct repeated repeated = {name, what->run, NULL, NULL, 20000};
    repeat(&repeated, MPI_COMM_WORLD);
    const long before = faults();
    for (int i = 0; i < calls; i++) {
        what->run(NULL);
    }
    const long mine = (faults() - before) / calls;
    if (mine > most_faults) {
        most_faults = mine;
        if (mine >= 16) {
            printf("%s: %ld page faults a call\n", name, mine);
        }
    }
}

static void label_of(char* label, size_t room, long bytes) {
    if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) {
        snprintf(label, room, "%ldMiB", bytes >> 20);
    } else if (bytes >= 1 << 10 && bytes % (1 << 10) == 0) {
        snprintf(label, room, "%ldKiB", bytes >> 10);
    } else {
        snprintf(label, room, "%ldB", bytes);
    }
}

int main(int argc, char** argv) {
    const char* functions = argc > 1 ? argv[1] : "all";
    const char* sizes = argc > 2 ? argv[2] : "8,64,512,4096,32768,262144,2097152,16777216";
    const int written = argc > 3 && strcmp(argv[3], "written") == 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    send_buffer = malloc(most_total);
    recv_buffer = malloc(most_total);
    memset(send_buffer, 0, most_total);
    memset(recv_buffer, 0, most_total);
    for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++) {
        const struct collective* what = &collectives[i];
        if (!listed(functions, what->name)) {
            continue;
        }
        if (what->run == barrier) {
            measure(what, "");
            continue;
        }
        for (const char* at = sizes; at != NULL; at = strchr(at, ',') != NULL ? strchr(at, ',') + 1 : NULL) {
            const long bytes = atol(at);
            if (bytes < 8 || bytes > largest || bytes * (what->by_rank ? ranks : 1) > most_total) {
                continue;
            }
            char label[32];
            label_of(label, sizeof label, bytes);
            count = (int)(bytes / 8);
            if (written) {
                measure_written(what, label);
            } else {
                measure(what, label);
            }
        }
    }
    long most;
    int rank;
    MPI_Reduce(&most_faults, &most, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        metric("most_page_faults", (double)most, "pages", "lower");
    }
    free(send_buffer);
    free(recv_buffer);
    MPI_Finalize();
    return 0;
}
