/* SPDX-License-Identifier: BSD-3-Clause */
/* No btl reaches the other ranks: each send says so in the text of its error, and MPI_Finalize ends
 * the job with the status MPI_ERR_OTHER. */
#include "tests/mpi_check/check.h"

#include <string.h>
#include <unistd.h>

static void check_error(int code) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    CHECK_CLASS(code, MPI_ERR_OTHER);
    MPI_Error_string(code, text, &length);
    CHECK(strstr(text, "no btl in use (self) reaches process ") != NULL);
}

int main(int argc, char** argv) {
    int rank, size, in = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int right = (rank + 1) % size, left = (rank + size - 1) % size;
    check_error(MPI_Send(&rank, 1, MPI_INT, right, 0, MPI_COMM_WORLD));
    check_error(MPI_Ssend(&rank, 1, MPI_INT, right, 0, MPI_COMM_WORLD));
    check_error(MPI_Sendrecv(&rank, 1, MPI_INT, right, 0, &in, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));

    MPI_Request request;
    CHECK_OK(MPI_Isend(&rank, 1, MPI_INT, right, 0, MPI_COMM_WORLD, &request));
    CHECK_CLASS(
        MPI_Send(&rank, 1, MPI_INT, size, 0, MPI_COMM_WORLD), MPI_ERR_RANK); /* the latest text is another one */
    check_error(MPI_Wait(&request, MPI_STATUS_IGNORE));

    CHECK_OK(MPI_Isend(&rank, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Recv(&in, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQUAL(in, rank);
    if (failures()) {
        _exit(1);
    }
    MPI_Finalize(); /* its error is fatal */
    return 0;
}
