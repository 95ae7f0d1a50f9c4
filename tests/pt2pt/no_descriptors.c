/* SPDX-License-Identifier: BSD-3-Clause */
/* No descriptor is free for a moment when a process first sends to another one by btl/socket: it connects when there is
 * one, and so answers a synchronous send. */
#define _DEFAULT_SOURCE
#include "tests/mpi_check/check.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

static struct rlimit usual;

static void* give_back(void* unused) {
    usleep(300000);
    CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &usual), 0);
    return unused;
}

int main(int argc, char** argv) {
    int rank, value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        value = 1;
        MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        CHECK_OK(MPI_Ssend(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD));
        MPI_Recv(&value, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQUAL(value, 2);
    } else {
        pthread_t thread;
        struct rlimit none;
        getrlimit(RLIMIT_NOFILE, &usual);
        MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* the connection from there */
        CHECK_EQUAL(pthread_create(&thread, NULL, give_back, NULL), 0);
        const int lowest = open("/dev/null", O_RDONLY);
        close(lowest);
        none = usual;
        none.rlim_cur = (rlim_t)lowest;
        CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &none), 0);
        CHECK_OK(MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)); /* sends the answer */
        value = 2;
        CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD));
        pthread_join(thread, NULL);
    }
    return finish();
}
