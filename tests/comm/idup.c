/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_idup does not block, and several calls may be pending at once. */
#include "tests/mpi_check/check.h"

#include <string.h>

enum { count = 20 };

static int rank, size;

static void use(MPI_Comm comm) {
    int one = 1, sum = 0;
    CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS && sum == size);
}

/* Rank 0 calls MPI_Comm_idup, then sends the others a message to call it: a call that waited for them would hang. */
static void test_returns_at_once(void) {
    MPI_Comm made;
    MPI_Request request;
    int go = 1;
    if (rank == 0) {
        CHECK(MPI_Comm_idup(MPI_COMM_WORLD, &made, &request) == MPI_SUCCESS);
        for (int to = 1; to < size; ++to) {
            MPI_Send(&go, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
        }
    } else {
        MPI_Recv(&go, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(MPI_Comm_idup(MPI_COMM_WORLD, &made, &request) == MPI_SUCCESS);
    }
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS && request == MPI_REQUEST_NULL);
    use(made);
    MPI_Comm_free(&made);
}

/* The duplicates complete in another order than they begin, with a blocking constructor between. */
static void test_many(void) {
    MPI_Comm made[count], split;
    MPI_Request requests[count];
    for (int i = 0; i < count; ++i) {
        CHECK(MPI_Comm_idup(MPI_COMM_WORLD, &made[i], &requests[i]) == MPI_SUCCESS);
    }
    CHECK(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &split) == MPI_SUCCESS);
    for (int i = 0; i < count; ++i) {
        const int at = rank % 2 == 0 ? i : count - 1 - i;
        CHECK(MPI_Wait(&requests[at], MPI_STATUS_IGNORE) == MPI_SUCCESS);
    }
    for (int i = 0; i < count; ++i) {
        use(made[i]);
        MPI_Comm_free(&made[i]);
    }
    use(split);
    MPI_Comm_free(&split);
}

static void test_with_info_and_test(void) {
    MPI_Comm made;
    MPI_Request request;
    MPI_Info info, used;
    char value[8];
    int done = 0, flag = 0, length = sizeof value;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_exact_length", "true");
    CHECK(MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &made, &request) == MPI_SUCCESS);
    MPI_Info_free(&info); /* MPI_Comm_idup_with_info has read it */
    while (!done) {
        CHECK(MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    }
    CHECK(MPI_Comm_get_info(made, &used) == MPI_SUCCESS);
    CHECK(MPI_Info_get_string(used, "mpi_assert_exact_length", &length, value, &flag) == MPI_SUCCESS && flag);
    CHECK(strcmp(value, "true") == 0);
    MPI_Info_free(&used);
    MPI_Comm_free(&made);
}

/* The parent may be freed while its duplicate is pending. */
static void test_freed_parent(void) {
    MPI_Comm parent, made;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &parent);
    CHECK(MPI_Comm_idup(parent, &made, &request) == MPI_SUCCESS);
    CHECK(MPI_Comm_free(&parent) == MPI_SUCCESS);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    use(made);
    MPI_Comm_free(&made);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    test_returns_at_once();
    test_many();
    test_with_info_and_test();
    test_freed_parent();
    MPI_Finalize();
    return failures();
}
