/* SPDX-License-Identifier: BSD-3-Clause */
/* The receive buffer of rank 0 is not significant in MPI_Exscan: a null pointer or MPI_IN_PLACE. The send
 * buffer itself is MPI_ERR_BUFFER as elsewhere (aliases.c). */
#include "tests/mpi_check/check.h"

static int rank, own, result;

static void check_result(void) {
    if (rank > 0) {
        CHECK_EQUAL(result, rank * (rank + 1) / 2);
    }
    CHECK_EQUAL(own, rank + 1);
    result = -1;
}

static void with_buffer(void* recv) {
    MPI_Request request;
    CHECK_OK(MPI_Exscan(&own, recv, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    check_result();
    CHECK_OK(MPI_Iexscan(&own, recv, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_result();
    CHECK_OK(MPI_Exscan_init(&own, recv, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    CHECK_OK(MPI_Start(&request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Request_free(&request));
    check_result();
    CHECK_OK(MPI_Exscan_c(&own, recv, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    check_result();
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    own = rank + 1;
    with_buffer(rank == 0 ? NULL : (void*)&result);
    with_buffer(rank == 0 ? MPI_IN_PLACE : (void*)&result);
    return finish();
}
