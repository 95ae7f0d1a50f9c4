/* SPDX-License-Identifier: BSD-3-Clause */
/* The status of a member is empty until the bundle has started it; then, and after the bundle, it is that of its
 * operation. */
#include "tests/mpi_check/check.h"

#include <mpix.h>

static int rank;

static void check_status(const MPI_Status* status, int source, int tag, int count) {
    int got = -1;
    MPI_Get_count(status, MPI_INT, &got);
    CHECK_EQUAL(status->MPI_SOURCE, source);
    CHECK_EQUAL(status->MPI_TAG, tag);
    CHECK_EQUAL(got, count);
}

static void transfer(MPI_Request* whole, MPI_Request part, int is_partitioned, MPI_Status* status) {
    if (rank == 1) {
        CHECK_OK(MPI_Start(whole));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        CHECK_OK(MPI_Start(whole));
        if (is_partitioned) {
            CHECK_OK(MPI_Pready(0, part));
        }
    }
    CHECK_OK(MPI_Wait(whole, status));
}

/* `source`, `tag`: what the receive tells. */
static void member(MPI_Request request, int is_partitioned, int source, int tag, int count) {
    MPI_Request bundle;
    MPI_Status status;
    int flag;
    CHECK_OK(MPIX_Bundle_init(1, &request, MPI_INFO_NULL, &bundle));
    CHECK_OK(MPI_Request_get_status(request, &flag, &status));
    check_status(&status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    transfer(&bundle, request, is_partitioned, &status);
    check_status(&status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    CHECK_OK(MPI_Request_get_status(request, &flag, &status));
    CHECK(flag);
    if (rank == 1) {
        check_status(&status, source, tag, count);
    }
    CHECK_OK(MPI_Request_free(&bundle));
    transfer(&request, request, is_partitioned, &status);
    if (rank == 1) {
        check_status(&status, source, tag, count);
    }
}

int main(int argc, char** argv) {
    int value = 1;
    MPI_Request request, bound;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Send_init(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &request);
    } else {
        MPI_Recv_init(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &request);
    }
    member(request, 0, 0, 5, 1);
    CHECK_OK(MPIX_Bind_channel(request, &bound, MPI_INFO_NULL));
    member(bound, 0, 0, 5, 1);
    CHECK_OK(MPIX_Unbind_channel(&bound));
    CHECK_OK(MPI_Request_free(&request));
    CHECK_OK(MPI_Recv_init(&value, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &request));
    member(request, 0, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    CHECK_OK(MPIX_Bind_channel(request, &bound, MPI_INFO_NULL));
    member(bound, 0, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    CHECK_OK(MPIX_Unbind_channel(&bound));
    CHECK_OK(MPI_Request_free(&request));
    if (rank == 0) {
        MPI_Psend_init(&value, 1, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    } else {
        MPI_Precv_init(&value, 1, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    }
    member(request, 1, 0, 6, 1);
    CHECK_OK(MPI_Request_free(&request));
    return finish();
}
