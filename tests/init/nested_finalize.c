/* SPDX-License-Identifier: BSD-3-Clause */
/* A deletion callback of MPI_COMM_SELF, which MPI_Finalize calls, calls MPI_Init and MPI_Finalize: both are errors. */
#include "tests/mpi_check/check.h"

static int calls;

static int deleted(MPI_Comm comm, int keyval, void* value, void* extra) {
    int provided, flag;
    (void)comm, (void)keyval, (void)value, (void)extra;
    ++calls;
    CHECK_EQUAL(class_of(MPI_Init_thread(NULL, NULL, MPI_THREAD_SINGLE, &provided)), MPI_ERR_OTHER);
    CHECK_EQUAL(class_of(MPI_Finalize()), MPI_ERR_OTHER);
    CHECK_OK(MPI_Finalized(&flag));
    CHECK(!flag);
    return MPI_SUCCESS;
}

int main(int argc, char** argv) {
    int keyval, flag;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &keyval, NULL));
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL));
    CHECK_OK(MPI_Finalize());
    CHECK_EQUAL(calls, 1);
    CHECK_OK(MPI_Finalized(&flag));
    CHECK(flag);
    return failures();
}
