/* SPDX-License-Identifier: BSD-3-Clause */
/* Half round trip of partitioned communication between two ranks, whose sender makes one partition ready after the
   other, and of one message of the same size with MPI_Send. The ratio is that of the bandwidths, of rounds that
   alternate. Each figure is the median over chunks, of rank 0; with more ranks, rank i and i + 1 do the same at the
   same time.
   partitioned [malloc|alloc] [BYTES,...] [use]  64 partitions of so many bytes each (16 KiB and 64), whose buffers are
   memory of malloc or of MPI_Alloc_mem; use: the sender writes what it sends, and the receiver reads what it receives
 */
#include "metric.h"
#include "sizes.h"

#include <mpi.h>
#include <string.h>

enum { partitions = 64, chunks = 21, bytes_a_chunk = 50 << 20, most_rounds = 2000 };

static int allocates; /* by MPI_Alloc_mem */
static int uses;
static unsigned long sum; /* of what was read */

struct pair {
    int partner, is_first; /* the first one sends first */
    char *out, *in;
    int size; /* of all partitions */
    MPI_Request send, receive;
};

static void produce(char* data, int size, int value) {
    if (uses) {
        memset(data, value, (size_t)size);
    }
}

static void consume(const char* data, int size) {
    if (uses) {
        for (int i = 0; i + (int)sizeof sum <= size; i += (int)sizeof sum) {
            unsigned long word;
            memcpy(&word, data + i, sizeof word);
            sum += word;
        }
    }
}

static void send_message(const struct pair* with, int value) {
    produce(with->out, with->size, value);
    MPI_Send(with->out, with->size, MPI_BYTE, with->partner, 1, MPI_COMM_WORLD);
}

static double message(struct pair* with, int rounds) {
    const double start = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        if (with->is_first) {
            send_message(with, i);
        }
        MPI_Recv(with->in, with->size, MPI_BYTE, with->partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        consume(with->in, with->size);
        if (!with->is_first) {
            send_message(with, i);
        }
    }
    return (MPI_Wtime() - start) / rounds / 2;
}

static void send_all(struct pair* with, int value) {
    MPI_Start(&with->send);
    const int bytes = with->size / partitions;
    for (int i = 0; i < partitions; i++) {
        produce(with->out + (long)i * bytes, bytes, value);
        MPI_Pready(i, with->send);
    }
    MPI_Wait(&with->send, MPI_STATUS_IGNORE);
}

static double partitioned(struct pair* with, int rounds) {
    const double start = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        MPI_Start(&with->receive);
        if (with->is_first) {
            send_all(with, i);
        }
        MPI_Wait(&with->receive, MPI_STATUS_IGNORE);
        consume(with->in, with->size);
        if (!with->is_first) {
            send_all(with, i);
        }
    }
    return (MPI_Wtime() - start) / rounds / 2;
}

static char* make_buffers(size_t size) {
    char* buffers = NULL;
    if (allocates) {
        MPI_Alloc_mem((MPI_Aint)size, MPI_INFO_NULL, &buffers);
    } else {
        buffers = malloc(size);
    }
    memset(buffers, 1, size);
    return buffers;
}

static void measure(int rank, const char* name, int size, int rounds) {
    double of_message[chunks], of_partitions[chunks], ratio[chunks];
    char text[64];
    char* buffers = make_buffers(2 * (size_t)size);
    struct pair with = {rank ^ 1, rank % 2 == 0, buffers, buffers + size, size, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    const int bytes = size / partitions;
    MPI_Psend_init(with.out, partitions, bytes, MPI_BYTE, with.partner, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &with.send);
    MPI_Precv_init(with.in, partitions, bytes, MPI_BYTE, with.partner, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &with.receive);
    for (int k = -1; k < chunks; k++) { /* one to warm up */
        const int slot = k < 0 ? 0 : k;
        of_message[slot] = message(&with, rounds) * 1e6;
        of_partitions[slot] = partitioned(&with, rounds) * 1e6;
        ratio[slot] = of_message[slot] / of_partitions[slot];
    }
    if (rank == 0) {
        snprintf(text, sizeof text, "message_64x%s", name);
        metric(text, metric_median(of_message, chunks), "us", "lower");
        snprintf(text, sizeof text, "partitioned_64x%s", name);
        metric(text, metric_median(of_partitions, chunks), "us", "lower");
        snprintf(text, sizeof text, "bandwidth_ratio_64x%s", name);
        metric(text, metric_median(ratio, chunks), "x", "higher");
    }
    MPI_Request_free(&with.send);
    MPI_Request_free(&with.receive);
    if (allocates) {
        MPI_Free_mem(buffers);
    } else {
        free(buffers);
    }
}

int main(int argc, char** argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size % 2 != 0) {
        fprintf(stderr, "partitioned needs pairs of ranks: mpirun -n 2 ...\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    allocates = argc > 1 && strcmp(argv[1], "alloc") == 0;
    const char* sizes = argc > 2 ? argv[2] : "16384,64";
    uses = argc > 3 && strcmp(argv[3], "use") == 0;
    if (argc > 4 || (argc > 1 && !allocates && strcmp(argv[1], "malloc") != 0) || (argc > 3 && !uses)) {
        if (rank == 0) {
            fprintf(stderr, "usage: partitioned [malloc|alloc] [BYTES,...] [use]\n");
        }
        MPI_Finalize();
        return 2;
    }
    for (long bytes; (bytes = next_size(&sizes)) != 0;) {
        char name[24];
        size_label(name, sizeof name, bytes);
        const long size = partitions * bytes, rounds = bytes_a_chunk / size;
        measure(rank, name, (int)size, (int)(rounds < most_rounds ? rounds : most_rounds) / BENCH_DIVISOR);
    }
    if (uses && sum == 1) {
        printf("the sum is kept\n"); /* so that the compiler has to read */
    }
    MPI_Finalize();
    return 0;
}
