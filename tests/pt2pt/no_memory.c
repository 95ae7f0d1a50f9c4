/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 1 has no memory left when messages come that it does not wait for: the job must end with a text that says so,
 * which no_memory_test.py looks for. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { message_size = 4000, messages = 1000 };

static void use_up_memory(void) {
    long pages = 0;
    FILE* file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld", &pages) != 1) {
        exit(1);
    }
    fclose(file);
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = (rlim_t)pages * 4096;
    setrlimit(RLIMIT_AS, &limit);
    for (size_t block = 1 << 20; block >= 4096; block /= 2) {
        while (malloc(block) != NULL) {
        }
    }
}

int main(int argc, char** argv) {
    static char buffer[message_size];
    int rank = 0, found = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        use_up_memory();
    }
    for (int i = 0; i < messages && rank == 0; ++i) {
        MPI_Send(buffer, message_size, MPI_BYTE, 1, 5, MPI_COMM_WORLD);
    }
    while (rank == 1) {
        MPI_Iprobe(0, 6, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
