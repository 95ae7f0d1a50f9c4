/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes persistent collectives on MPI_COMM_WORLD whose info key patchbay_effort has the value of the first argument. */
#include "tests/mpi_check/check.h"

int main(int argc, char** argv) {
    double out = 1, in = 0;
    MPI_Info info;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Info_create(&info);
    if (argc > 1) {
        MPI_Info_set(info, "patchbay_effort", argv[1]);
    }
    for (int i = 0; i < 3; i++) {
        CHECK_OK(MPI_Allreduce_init(&out, &in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, info, &request));
        CHECK_OK(MPI_Request_free(&request));
    }
    MPI_Info_free(&info);
    return finish();
}
