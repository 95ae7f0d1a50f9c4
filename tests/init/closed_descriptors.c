/* SPDX-License-Identifier: BSD-3-Clause */
/* The program has closed its descriptors, those of the library too, and ends by MPI_Abort. Standard error is closed,
 * because libevent would fill it with warnings. */
#define _GNU_SOURCE
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    for (int descriptor = 0; descriptor < 1024; ++descriptor) {
        close(descriptor);
    }
    MPI_Abort(MPI_COMM_WORLD, 42);
}
