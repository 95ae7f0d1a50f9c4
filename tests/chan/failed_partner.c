/* SPDX-License-Identifier: BSD-3-Clause */
/* The partner of channels fails. A program that does nothing but send, and waits for each of its sends, is told so; so
 * is one that waits for a message. */
#include "tests/mpi_check/survivors.h"

#include <mpix.h>

#include <signal.h>
#include <unistd.h>

enum { sizes = 3, longest = 100000 };
static const int counts[sizes] = {1, 1000, longest};
static int data[longest];

/* The error that ends the starts, each of which is waited for; MPI_SUCCESS: there is none within ten seconds. */
static int start_until_error(MPI_Request* request) {
    const double begin = MPI_Wtime();
    int code = MPI_SUCCESS;
    while (code == MPI_SUCCESS && MPI_Wtime() - begin < 10) {
        code = MPI_Start(request);
        if (code == MPI_SUCCESS) {
            code = MPI_Wait(request, MPI_STATUS_IGNORE);
        }
    }
    return code;
}

int main(int argc, char** argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Request persistent[2 * sizes], channels[2 * sizes];
    for (int i = 0; i < sizes; ++i) {
        if (rank == 0) {
            MPI_Send_init(data, counts[i], MPI_INT, 1, i, MPI_COMM_WORLD, &persistent[i]);
            MPI_Recv_init(data, counts[i], MPI_INT, 1, i, MPI_COMM_WORLD, &persistent[sizes + i]);
        } else {
            MPI_Recv_init(data, counts[i], MPI_INT, 0, i, MPI_COMM_WORLD, &persistent[i]);
            MPI_Send_init(data, counts[i], MPI_INT, 0, i, MPI_COMM_WORLD, &persistent[sizes + i]);
        }
    }
    MPI_Info none[2 * sizes];
    for (int i = 0; i < 2 * sizes; ++i) {
        none[i] = MPI_INFO_NULL;
    }
    CHECK_OK(MPIX_Bind_channels(persistent, channels, 2 * sizes, none));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        raise(SIGKILL);
    }
    for (int i = 0; i < 2 * sizes; ++i) {
        CHECK_CLASS(start_until_error(&channels[i]), MPI_ERR_PROC_ABORTED);
    }
    return finish_survivor();
}
