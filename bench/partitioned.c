/* SPDX-License-Identifier: BSD-3-Clause */
/* Half round trip of partitioned communication between ranks 0 and 1, whose sender makes one partition ready after the
   other, and of one message of the same size with MPI_Send: 64 partitions of 16 KiB and of 64 bytes. The ratio is that
   of the bandwidths, of rounds that alternate. Each figure is the median over chunks. */
#include "metric.h"
#include <mpi.h>
#include <string.h>

enum { partitions = 64, chunks = 21 };

struct pair {
    MPI_Request send, receive;
};

static double message(int rank, char* buffer, int size, int rounds) {
    const double start = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        if (rank == 0) {
            MPI_Send(buffer, size, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(buffer, size, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(buffer, size, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(buffer, size, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
    }
    return (MPI_Wtime() - start) / rounds / 2;
}

static void send_all(struct pair* requests) {
    MPI_Start(&requests->send);
    for (int i = 0; i < partitions; i++) {
        MPI_Pready(i, requests->send);
    }
    MPI_Wait(&requests->send, MPI_STATUS_IGNORE);
}

static double partitioned(int rank, struct pair* requests, int rounds) {
    const double start = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        MPI_Start(&requests->receive);
        if (rank == 0) {
            send_all(requests);
        }
        MPI_Wait(&requests->receive, MPI_STATUS_IGNORE);
        if (rank == 1) {
            send_all(requests);
        }
    }
    return (MPI_Wtime() - start) / rounds / 2;
}

static void measure(int rank, const char* name, int size, int rounds) {
    double of_message[chunks], of_partitions[chunks], ratio[chunks];
    char text[64];
    char* buffers = malloc(2 * (size_t)size);
    memset(buffers, 1, 2 * (size_t)size);
    struct pair requests;
    MPI_Psend_init(
        buffers, partitions, size / partitions, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests.send);
    MPI_Precv_init(buffers + size, partitions, size / partitions, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
        &requests.receive);
    for (int k = -1; k < chunks; k++) { /* one to warm up */
        const int slot = k < 0 ? 0 : k;
        of_message[slot] = message(rank, buffers, size, rounds) * 1e6;
        of_partitions[slot] = partitioned(rank, &requests, rounds) * 1e6;
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
    MPI_Request_free(&requests.send);
    MPI_Request_free(&requests.receive);
    free(buffers);
}

int main(int argc, char** argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2) {
        fprintf(stderr, "partitioned needs two ranks: mpirun -n 2 ...\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (rank < 2) {
        measure(rank, "16KiB", partitions * 16384, 50 / BENCH_DIVISOR);
        measure(rank, "64B", partitions * 64, 2000 / BENCH_DIVISOR);
    }
    MPI_Finalize();
    return 0;
}
