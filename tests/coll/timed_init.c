/* SPDX-License-Identifier: BSD-3-Clause */
/* timed_init EFFORT [NUMBER]: makes persistent collectives on MPI_COMM_WORLD with that value of info key
 * patchbay_effort. */
#include <stdlib.h>

#include "tests/mpi_check/check.h"

int main(int argc, char** argv) {
    double out = 1, in = 0;
    MPI_Info info;
    MPI_Request request;
    const int number = argc > 2 ? atoi(argv[2]) : 1;
    MPI_Init(&argc, &argv);
    MPI_Info_create(&info);
    if (argc > 1) {
        MPI_Info_set(info, "patchbay_effort", argv[1]);
    }
    for (int i = 0; i < number; i++) {
        CHECK_OK(MPI_Allreduce_init(&out, &in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, info, &request));
        CHECK_OK(MPI_Request_free(&request));
    }
    MPI_Info_free(&info);
    return finish();
}
