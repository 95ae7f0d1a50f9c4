/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Cancel of an eager send that is not received succeeds on each communicator, also with MPI_THREAD_MULTIPLE. */
#include "tests/mpi_check/check.h"

static int rank;

static void cancel(MPI_Request* request) {
    MPI_Status status;
    int is_cancelled = 0;
    CHECK_OK(MPI_Cancel(request));
    CHECK_OK(MPI_Wait(request, &status));
    MPI_Test_cancelled(&status, &is_cancelled);
    CHECK(is_cancelled);
}

static void run(MPI_Comm comm) {
    int value = 5;
    MPI_Request request;
    if (rank == 0) {
        MPI_Send(&value, 1, MPI_INT, 1, 1, comm);
        MPI_Recv(&value, 1, MPI_INT, 1, 1, comm, MPI_STATUS_IGNORE);
        CHECK_OK(MPI_Isend(&value, 1, MPI_INT, 1, 7, comm, &request));
        cancel(&request);
        CHECK_OK(MPI_Ibsend(&value, 1, MPI_INT, 1, 7, comm, &request));
        cancel(&request);
        MPI_Send(&value, 1, MPI_INT, 1, 8, comm);
    } else {
        int found = 1;
        MPI_Recv(&value, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE);
        MPI_Send(&value, 1, MPI_INT, 0, 1, comm);
        MPI_Recv(&value, 1, MPI_INT, 0, 8, comm, MPI_STATUS_IGNORE);
        MPI_Iprobe(0, 7, comm, &found, MPI_STATUS_IGNORE);
        CHECK(!found);
    }
}

int main(int argc, char** argv) {
    static char buffer[4096];
    int level;
    MPI_Comm comm;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    CHECK_EQUAL(level, MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Buffer_attach(buffer, sizeof buffer);
    run(MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    run(comm);
    MPI_Comm_free(&comm);
    void* detached;
    int size;
    MPI_Buffer_detach(&detached, &size);
    return finish();
}
