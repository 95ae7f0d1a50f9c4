/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_dup and MPI_Comm_idup fail in one process only, in a copy callback or by an info key: its next duplicates
 * are those of the others nevertheless. The others get an error too, in the constructor, or in operations on the
 * duplicate. The same on an intercommunicator, whose other group learns of it too. */
#include "tests/mpi_check/check.h"

static int rank;

static int attributes; /* that have been set or copied, and not deleted */

static int refuse(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
    (void)comm, (void)keyval, (void)extra, (void)in, (void)out;
    *flag = rank != 1;
    attributes += *flag;
    return rank == 1 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int keyval, void* value, void* extra) {
    (void)comm, (void)keyval, (void)value, (void)extra;
    attributes--;
    return MPI_SUCCESS;
}

static int duplicate(MPI_Comm parent, MPI_Info info, int is_nonblocking, MPI_Comm* made) {
    MPI_Request request;
    *made = MPI_COMM_NULL;
    if (!is_nonblocking) {
        return MPI_Comm_dup_with_info(parent, info, made);
    }
    const int code = MPI_Comm_idup_with_info(parent, info, made, &request);
    return code != MPI_SUCCESS ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* All have it. */
static void check_next(MPI_Comm parent, int is_nonblocking) {
    MPI_Comm next;
    int one = 1, sum = 0, members, is_inter;
    CHECK_OK(duplicate(parent, MPI_INFO_NULL, is_nonblocking, &next));
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, next));
    MPI_Comm_test_inter(next, &is_inter);
    CHECK_OK(is_inter ? MPI_Comm_remote_size(next, &members) : MPI_Comm_size(next, &members));
    CHECK_EQUAL(sum, members);
    CHECK_OK(MPI_Comm_free(&next));
}

static void check_refused(int code, MPI_Comm* made) {
    if (rank == 1) {
        CHECK(code != MPI_SUCCESS);
        CHECK(*made == MPI_COMM_NULL);
        return;
    }
    if (code != MPI_SUCCESS) {
        CHECK(*made == MPI_COMM_NULL);
        return;
    }
    CHECK(MPI_Barrier(*made) != MPI_SUCCESS);
    CHECK_OK(MPI_Comm_free(made));
}

static void check_parent(MPI_Comm parent, int keyval, int is_nonblocking) {
    MPI_Comm made;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "patchbay_cid", "nonexistent");
    MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Comm_set_attr(parent, keyval, NULL));
    attributes++;
    check_refused(duplicate(parent, MPI_INFO_NULL, is_nonblocking, &made), &made);
    CHECK_EQUAL(attributes, 1); /* also those of a duplicate that was not made */
    CHECK_OK(MPI_Comm_delete_attr(parent, keyval));
    CHECK_EQUAL(attributes, 0);
    check_next(parent, is_nonblocking);
    check_refused(duplicate(parent, rank == 1 ? info : MPI_INFO_NULL, is_nonblocking, &made), &made);
    check_next(parent, is_nonblocking);
    CHECK_OK(MPI_Comm_free(&parent));
    MPI_Info_free(&info);
}

int main(int argc, char** argv) {
    MPI_Comm parent, half;
    int keyval;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK_OK(MPI_Comm_create_keyval(refuse, delete_attribute, &keyval, NULL));
    for (int is_nonblocking = 0; is_nonblocking < 2; ++is_nonblocking) {
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
        check_parent(parent, keyval, is_nonblocking);
        CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, rank > 0, 0, &half));
        CHECK_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 0, 1, &parent));
        check_parent(parent, keyval, is_nonblocking);
        CHECK_OK(MPI_Comm_free(&half));
    }
    CHECK_OK(MPI_Comm_free_keyval(&keyval));
    return finish();
}
