/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of the node that channels of chan/sm have to a process that has failed is free when they are unbound. */
#define _GNU_SOURCE
#include "tests/mpi_check/survivors.h"

#include <mpix.h>

#include <signal.h>
#include <string.h>
#include <sys/stat.h>

enum { channels = 200, bytes = 65536 };
static char data[bytes];

/* The KiB of the memory that the processes of the node share: a descriptor of each process stands for it. */
static long shared_memory(void) {
    for (int fd = 0; fd < 1024; ++fd) {
        char link[64], target[256];
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        const ssize_t length = readlink(link, target, sizeof target - 1);
        struct stat file;
        if (length > 0) {
            target[length] = 0;
            if (strstr(target, "memfd:patchbay-node") != NULL && fstat(fd, &file) == 0) {
                return (long)(file.st_blocks / 2);
            }
        }
    }
    return -1;
}

int main(int argc, char** argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Request in[channels], bound[channels];
    MPI_Info none[channels];
    for (int i = 0; i < channels; ++i) {
        none[i] = MPI_INFO_NULL;
        if (rank == 0) {
            MPI_Send_init(data, bytes, MPI_BYTE, 1, i, MPI_COMM_WORLD, &in[i]);
        } else {
            MPI_Recv_init(data, bytes, MPI_BYTE, 0, i, MPI_COMM_WORLD, &in[i]);
        }
    }
    const long before = shared_memory();
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPIX_Bind_channels(in, bound, channels, none));
    MPI_Barrier(MPI_COMM_WORLD);
    const long taken = shared_memory() - before;
    if (rank == 1) {
        raise(SIGKILL);
    }
    CHECK(before > 0 && taken > channels * bytes / 1024 / 2);
    CHECK_CLASS(MPIX_Unbind_channels(bound, channels), MPI_ERR_PROC_ABORTED);
    const long left = shared_memory() - before;
    CHECK(left < taken * 3 / 4); /* the heap keeps some of what is free */
    return finish_survivor();
}
