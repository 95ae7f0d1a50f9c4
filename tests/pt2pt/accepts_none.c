/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 1 has no descriptor for the connection of rank 0 by btl/socket, and never gets one. */
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

int main(int argc, char** argv) {
    int rank, value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        usleep(200000);
        MPI_Ssend(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else {
        struct rlimit none;
        getrlimit(RLIMIT_NOFILE, &none);
        const int lowest = open("/dev/null", O_RDONLY);
        close(lowest);
        none.rlim_cur = (rlim_t)lowest;
        setrlimit(RLIMIT_NOFILE, &none);
        MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    puts("arrived");
    return MPI_Finalize();
}
