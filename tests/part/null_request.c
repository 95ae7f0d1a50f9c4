/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Parrived of MPI_REQUEST_NULL: flag is true. The size of an automatic buffer is ignored, also one that fits no
 * int, and the buffer can be detached by either function. */
#include "tests/mpi_check/check.h"

int main(int argc, char** argv) {
    int flag = -1, size = -1;
    void* buffer = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Parrived(MPI_REQUEST_NULL, 0, &flag));
    CHECK_EQUAL(flag, 1);
    CHECK_OK(MPI_Buffer_attach_c(MPI_BUFFER_AUTOMATIC, (MPI_Count)1 << 40));
    CHECK_OK(MPI_Buffer_detach(&buffer, &size));
    CHECK(buffer == MPI_BUFFER_AUTOMATIC);
    return finish();
}
