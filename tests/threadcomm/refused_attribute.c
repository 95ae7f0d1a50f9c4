/* SPDX-License-Identifier: BSD-3-Clause */
/* MPIX_Threadcomm_init that fails in a copy callback leaves nothing: there may be 1024 thread communicators. */
#include "tests/mpi_check/check.h"

#include <mpix.h>

static int refuse(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
    (void)comm, (void)keyval, (void)extra, (void)in, (void)out, (void)flag;
    return MPI_ERR_OTHER;
}

int main(int argc, char** argv) {
    MPI_Comm parent, made = MPI_COMM_WORLD;
    int keyval;
    MPI_Init(&argc, &argv);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
    MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
    CHECK_OK(MPI_Comm_set_attr(parent, keyval, NULL));
    for (int i = 0; i < 1100; ++i) {
        CHECK_EQUAL(class_of(MPIX_Threadcomm_init(parent, 1, &made)), MPI_ERR_OTHER);
        CHECK(made == MPI_COMM_NULL);
    }
    CHECK_OK(MPI_Comm_delete_attr(parent, keyval));
    CHECK_OK(MPIX_Threadcomm_init(parent, 1, &made));
    CHECK_OK(MPIX_Threadcomm_free(&made));
    MPI_Comm_free(&parent);
    return finish();
}
