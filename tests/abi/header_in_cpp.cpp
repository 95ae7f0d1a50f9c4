// SPDX-License-Identifier: BSD-3-Clause
// The headers in strict C++11: the test is that this compiles without a warning.
#include <mpi.h>
#include <mpix.h>

int main() {
    MPI_Status status = MPI_Status();
    MPI_Comm comm = MPI_COMM_NULL;
    return status.MPI_ERROR == MPI_SUCCESS && comm != MPI_COMM_WORLD ? 0 : 1;
}
