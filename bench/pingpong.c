/* SPDX-License-Identifier: BSD-3-Clause */
/* Half round trip of MPI_Send/MPI_Recv between ranks 0 and 1 for a few sizes, and the rate of 8-byte messages.
   Each figure is the median over chunks of the mean within a chunk. */
#include "metric.h"
#include <mpi.h>
#include <string.h>

enum { chunks = 21, window = 64 };

static double half_round_trip(int rank, char* buffer, int size, int rounds) {
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

static double messages_per_second(int rank, char* buffer, int windows) {
    MPI_Request requests[window];
    const double start = MPI_Wtime();
    for (int w = 0; w < windows; w++) {
        for (int i = 0; i < window; i++) {
            if (rank == 0) {
                MPI_Isend(buffer + 8 * i, 8, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &requests[i]);
            } else {
                MPI_Irecv(buffer + 8 * i, 8, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &requests[i]);
            }
        }
        MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
        if (rank == 0) {
            MPI_Recv(buffer, 0, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Send(buffer, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
        }
    }
    return (double)windows * window / (MPI_Wtime() - start);
}

int main(int argc, char** argv) {
    static const struct {
        int size, rounds;
        const char* name;
    } cases[] = {{8, 10000 / BENCH_DIVISOR, "half_round_trip_8B"}, {4096, 5000 / BENCH_DIVISOR, "half_round_trip_4KiB"},
        {65536, 400 / BENCH_DIVISOR, "half_round_trip_64KiB"}, {1 << 20, 50 / BENCH_DIVISOR, "half_round_trip_1MiB"}};
    const int windows = 1000 / BENCH_DIVISOR;
    double samples[chunks];
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2) {
        fprintf(stderr, "pingpong needs two ranks: mpirun -n 2 ...\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    char* buffer = malloc(1 << 20);
    memset(buffer, 1, 1 << 20);
    for (size_t c = 0; c < sizeof cases / sizeof *cases && rank < 2; c++) {
        half_round_trip(rank, buffer, cases[c].size, cases[c].rounds); /* warm-up */
        for (int k = 0; k < chunks; k++) {
            samples[k] = half_round_trip(rank, buffer, cases[c].size, cases[c].rounds) * 1e6;
        }
        if (rank == 0) {
            metric(cases[c].name, metric_median(samples, chunks), "us", "lower");
        }
    }
    if (rank < 2) {
        messages_per_second(rank, buffer, windows / 2);
        for (int k = 0; k < chunks; k++) {
            samples[k] = messages_per_second(rank, buffer, windows) / 1e6;
        }
        if (rank == 0) {
            metric("message_rate_8B", metric_median(samples, chunks), "M/s", "higher");
        }
    }
    free(buffer);
    MPI_Finalize();
    return 0;
}
