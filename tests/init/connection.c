/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection to the launcher sends at once: with Nagle's algorithm every sixth MPI_Init took 40 ms longer. */
#include "tests/mpi_check/check.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

int main(int argc, char** argv) {
    int connections = 0;
    MPI_Init(&argc, &argv);
    for (int fd = 0; fd < 1024; ++fd) {
        int on = 0;
        socklen_t length = sizeof on;
        if (getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, &length) == 0) {
            CHECK(on != 0);
            ++connections;
        }
    }
    CHECK(connections > 0);
    MPI_Finalize();
    return failures();
}
