/* SPDX-License-Identifier: BSD-3-Clause */
/* Many processes of a node: messages of each pair stay in order while pairs become active and inactive, and the memory
 * that the library takes does not grow with their number: Pss of each process after five times MPI_Alltoall of 20 kB.
 */
#define _GNU_SOURCE
#include "tests/mpi_check/check.h"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { block = 20000, rounds = 5, phases = 12, per_phase = 40, longest = 30000 };

static double pss_mb(void) {
    FILE* file = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    long kib = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "Pss:", 4) == 0) {
            sscanf(line + 4, "%ld", &kib);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return (double)kib * 1024 / 1e6;
}

static void all_to_all(int rank, int size) {
    const size_t bytes = (size_t)size * block;
    char* out = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char* in = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int round = 0; round < rounds; ++round) {
        for (int peer = 0; peer < size; ++peer) {
            memset(out + (size_t)peer * block, rank + 3 * peer + round, block);
        }
        MPI_Alltoall(out, block, MPI_BYTE, in, block, MPI_BYTE, MPI_COMM_WORLD);
        for (int peer = 0; peer < size; ++peer) {
            const char* got = in + (size_t)peer * block;
            CHECK_EQUAL(got[0], (char)(peer + 3 * rank + round));
            CHECK(memcmp(got, got + 1, block - 1) == 0);
        }
    }
    munmap(out, bytes);
    munmap(in, bytes);
}

static int length_of(int number) {
    static const int lengths[] = {8, 8, 64, 200, 8, 3000, 8, 17000, longest};
    return lengths[number % (int)(sizeof lengths / sizeof *lengths)];
}

/* In each phase every process sends many messages to one other, and one to a second one. */
static void phases_of_activity(int rank, int size) {
    static char buffer[longest], incoming[longest];
    for (int phase = 0; phase < phases; ++phase) {
        const int distance = 1 + phase * 5 % (size - 1), other = 1 + (phase * 3 + 1) % (size - 1);
        const int to = (rank + distance) % size, from = (rank - distance + size) % size;
        MPI_Request once[2];
        int one = phase, got = -1;
        MPI_Irecv(&got, 1, MPI_INT, (rank - other + size) % size, 100 + phase, MPI_COMM_WORLD, &once[0]);
        MPI_Isend(&one, 1, MPI_INT, (rank + other) % size, 100 + phase, MPI_COMM_WORLD, &once[1]);
        for (int number = 0; number < per_phase; ++number) {
            MPI_Request send;
            MPI_Status status;
            int count = 0;
            memset(buffer, number, (size_t)length_of(number));
            MPI_Isend(buffer, length_of(number), MPI_BYTE, to, 7, MPI_COMM_WORLD, &send);
            MPI_Recv(incoming, longest, MPI_BYTE, from, 7, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_BYTE, &count);
            CHECK_EQUAL(count, length_of(number));
            CHECK_EQUAL(incoming[0], number);
            CHECK_EQUAL(incoming[count - 1], number);
            MPI_Wait(&send, MPI_STATUS_IGNORE);
        }
        MPI_Waitall(2, once, MPI_STATUSES_IGNORE);
        CHECK_EQUAL(got, phase);
    }
}

int main(int argc, char** argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int judge_memory = argc > 1 && strcmp(argv[1], "memory") == 0;
    all_to_all(rank, size);
    MPI_Barrier(MPI_COMM_WORLD);
    const double pss = pss_mb();
    MPI_Barrier(MPI_COMM_WORLD);
    const double most = size <= 16 ? 2.5 : 4;
    double sum = 0;
    MPI_Allreduce(&pss, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (judge_memory && sum / size > most) {
        if (rank == 0) {
            fprintf(stderr, "Pss is %.2f MB on average, more than %.1f\n", sum / size, most);
        }
        check_failed(__FILE__, __LINE__, "Pss");
    }
    if (size > 2) {
        phases_of_activity(rank, size);
    }
    return finish();
}
