/* SPDX-License-Identifier: BSD-3-Clause */
/* MPIX_Threadcomm_init that fails in a copy callback, of all processes or of one, is an error of all of them and leaves
 * nothing: there may be 1024 thread communicators, and what other processes have copied is deleted. */
#include "tests/mpi_check/check.h"

#include <mpix.h>

static int refuses, copied, deleted;

static int copy(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
    (void)comm, (void)keyval, (void)extra;
    if (refuses) {
        return MPI_ERR_OTHER;
    }
    *(void**)out = in;
    *flag = 1;
    ++copied;
    return MPI_SUCCESS;
}

static int delete (MPI_Comm comm, int keyval, void* value, void* extra) {
    (void)comm, (void)keyval, (void)value, (void)extra;
    ++deleted;
    return MPI_SUCCESS;
}

int main(int argc, char** argv) {
    MPI_Comm parent, made = MPI_COMM_WORLD;
    int keyval, rank, size;
    MPI_Init(&argc, &argv);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
    MPI_Comm_rank(parent, &rank);
    MPI_Comm_size(parent, &size);
    MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Comm_create_keyval(copy, delete, &keyval, NULL));
    CHECK_OK(MPI_Comm_set_attr(parent, keyval, NULL));
    for (int i = 0; i < 1100; ++i) {
        refuses = i % 2 == 0 || rank == size - 1;
        CHECK_EQUAL(class_of(MPIX_Threadcomm_init(parent, 1, &made)), MPI_ERR_OTHER);
        CHECK(made == MPI_COMM_NULL);
    }
    CHECK_EQUAL(copied, rank == size - 1 ? 0 : 550);
    CHECK_EQUAL(deleted, copied);
    CHECK_OK(MPI_Comm_delete_attr(parent, keyval));
    CHECK_OK(MPIX_Threadcomm_init(parent, 1, &made));
    CHECK_OK(MPIX_Threadcomm_free(&made));
    MPI_Comm_free(&parent);
    CHECK_OK(MPI_Comm_free_keyval(&keyval));
    return finish();
}
