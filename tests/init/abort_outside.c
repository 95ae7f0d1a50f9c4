/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Abort before MPI_Init, with a code whose lower eight bits are 0: the exit status is not that of success. */
#include <mpi.h>

int main(void) {
    MPI_Abort(MPI_COMM_WORLD, 256);
    return 0;
}
