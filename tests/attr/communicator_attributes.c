/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes of communicators through the C interface: predefined ones, dup and free, deletion in MPI_Finalize. */
#include "tests/mpi_check/check.h"

#include <stdlib.h>

static int deleted[8], deletions, refuse;

static int on_delete(MPI_Comm comm, int keyval, void* value, void* extra) {
    (void)comm, (void)keyval, (void)extra;
    if (refuse) {
        return MPI_ERR_OTHER;
    }
    deleted[deletions++ % 8] = *(int*)value;
    return MPI_SUCCESS;
}

static int predefined(MPI_Comm comm, int keyval, int* found) {
    int* value = NULL;
    CHECK(MPI_Comm_get_attr(comm, keyval, &value, found) == MPI_SUCCESS);
    return *found ? *value : -1;
}

static void test_predefined(MPI_Comm comm) {
    int found = 0;
    CHECK(predefined(comm, MPI_TAG_UB, &found) >= 32767 && found);
    CHECK(predefined(comm, MPI_HOST, &found) == MPI_PROC_NULL && found);
    CHECK(predefined(comm, MPI_IO, &found) == MPI_ANY_SOURCE && found);
    CHECK(predefined(comm, MPI_WTIME_IS_GLOBAL, &found) == 1 && found);
    CHECK(predefined(comm, MPI_LASTUSEDCODE, &found) >= MPI_ERR_LASTCODE && found);
    int added = 0;
    MPI_Add_error_class(&added);
    CHECK(predefined(comm, MPI_LASTUSEDCODE, &found) == added);
    CHECK(MPI_Comm_set_attr(comm, MPI_TAG_UB, &added) == MPI_ERR_KEYVAL);
    CHECK(MPI_Comm_delete_attr(comm, MPI_TAG_UB) == MPI_ERR_KEYVAL);
}

static void test_dup_and_free(void) {
    static int one = 1, two = 2;
    int copied, kept, flag, *value = NULL;
    MPI_Comm dup;
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, on_delete, &copied, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &kept, NULL);
    CHECK(MPI_Comm_set_attr(MPI_COMM_WORLD, copied, &one) == MPI_SUCCESS);
    CHECK(MPI_Comm_set_attr(MPI_COMM_WORLD, kept, &two) == MPI_SUCCESS);
    CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &dup) == MPI_SUCCESS);
    CHECK(MPI_Comm_get_attr(dup, copied, &value, &flag) == MPI_SUCCESS && flag && value == &one);
    CHECK(MPI_Comm_get_attr(dup, kept, &value, &flag) == MPI_SUCCESS && !flag);

    MPI_Comm saved = dup;
    refuse = 1;
    CHECK(MPI_Comm_free(&dup) == MPI_ERR_OTHER && dup == saved);
    refuse = 0;
    deletions = 0;
    CHECK(MPI_Comm_free(&dup) == MPI_SUCCESS && dup == MPI_COMM_NULL);
    CHECK(deletions == 1 && deleted[0] == 1);
    CHECK(MPI_Comm_delete_attr(MPI_COMM_WORLD, copied) == MPI_SUCCESS);
    CHECK(MPI_Comm_delete_attr(MPI_COMM_WORLD, kept) == MPI_SUCCESS);
    CHECK(MPI_Comm_free_keyval(&copied) == MPI_SUCCESS && copied == MPI_KEYVAL_INVALID);
    CHECK(MPI_Comm_free_keyval(&kept) == MPI_SUCCESS);
    CHECK(MPI_Comm_free_keyval(&kept) == MPI_ERR_KEYVAL);
}

static void test_old_names(void) {
    static int value = 3;
    int keyval, flag, *found = NULL;
    CHECK(MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &keyval, NULL) == MPI_SUCCESS);
    CHECK(MPI_Attr_put(MPI_COMM_SELF, keyval, &value) == MPI_SUCCESS);
    CHECK(MPI_Attr_get(MPI_COMM_SELF, keyval, &found, &flag) == MPI_SUCCESS && flag && found == &value);
    CHECK(MPI_Attr_delete(MPI_COMM_SELF, keyval) == MPI_SUCCESS);
    CHECK(MPI_Keyval_free(&keyval) == MPI_SUCCESS);
}

/* Attributes of MPI_COMM_SELF go first of all in MPI_Finalize, the newest first, while MPI still works. */
static int on_finalize(MPI_Comm comm, int keyval, void* value, void* extra) {
    int finalized = 1, sum = 0, one = 1, size;
    CHECK(comm == MPI_COMM_SELF);
    CHECK(MPI_Finalized(&finalized) == MPI_SUCCESS && !finalized);
    CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(sum == size);
    return on_delete(comm, keyval, value, extra);
}

int main(int argc, char** argv) {
    static int values[3] = {10, 11, 12};
    int early;
    CHECK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &early, NULL) == MPI_SUCCESS);
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    test_predefined(MPI_COMM_WORLD);
    test_predefined(MPI_COMM_SELF);
    test_dup_and_free();
    test_old_names();
    deletions = 0;
    MPI_Comm_set_attr(MPI_COMM_SELF, early, &values[0]);
    for (int i = 1; i < 3; ++i) {
        int keyval;
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &keyval, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &values[i]);
        MPI_Comm_free_keyval(&keyval);
    }
    MPI_Finalize();
    CHECK(deletions == 3 && deleted[0] == 12 && deleted[1] == 11 && deleted[2] == 10);
    CHECK(MPI_Comm_free_keyval(&early) == MPI_SUCCESS);
    return failures();
}
