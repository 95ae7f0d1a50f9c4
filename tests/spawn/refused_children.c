/* SPDX-License-Identifier: BSD-3-Clause */
/* The children start, but cannot be connected: MPI_Comm_spawn returns an error with array_of_errcodes, and MPI_Init one
 * in the children, which end. The parents go on. Argument: "params" (a parameter has another value in the children), or
 * "full" (a parent has no index left for another communicator). */
#include "tests/mpi_check/check.h"

#include <string.h>

enum { most = 65536, children = 2 };

static MPI_Comm own[most];

static int fill(void) {
    int count = 0;
    while (MPI_Comm_dup(MPI_COMM_SELF, &own[count]) == MPI_SUCCESS) {
        ++count;
    }
    return count;
}

int main(int argc, char** argv) {
    MPI_Comm parent, made = MPI_COMM_WORLD;
    MPI_Info info;
    int rank, codes[children] = {MPI_SUCCESS, MPI_SUCCESS}, count = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    CHECK(parent == MPI_COMM_NULL); /* MPI_Init returns in no child */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Info_create(&info);
    if (argc > 1 && strcmp(argv[1], "full") == 0) {
        count = rank == 0 ? fill() : 0;
    } else {
        MPI_Info_set(info, "env", "PATCHBAY_MCA_coll=basic");
    }
    CHECK(MPI_Comm_spawn(argv[0], argv + 1, children, info, 0, MPI_COMM_WORLD, &made, codes) != MPI_SUCCESS);
    CHECK(made == MPI_COMM_NULL);
    for (int i = 0; i < children; ++i) {
        CHECK_EQUAL(codes[i], MPI_ERR_SPAWN);
    }
    MPI_Info_free(&info);
    for (int i = 0; i < count; ++i) {
        MPI_Comm_free(&own[i]);
    }
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &made));
    CHECK_OK(MPI_Barrier(made));
    MPI_Comm_free(&made);
    return finish();
}
