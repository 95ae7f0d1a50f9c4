/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Intercomm_merge with every combination of `high`. */
#include "tests/intercomm/sides.h"

static void check_merged(struct sides* s, int high0, int high1) {
    MPI_Comm merged;
    int rank, size, total, flag;
    MPI_Comm_size(MPI_COMM_WORLD, &total);
    CHECK(MPI_Intercomm_merge(s->inter, s->side == 0 ? high0 : high1, &merged) == MPI_SUCCESS);
    CHECK(MPI_Comm_test_inter(merged, &flag) == MPI_SUCCESS && !flag);
    CHECK(MPI_Comm_size(merged, &size) == MPI_SUCCESS && size == total);
    MPI_Comm_rank(merged, &rank);
    int first_side = s->side; /* the side whose processes have the lower ranks */
    CHECK(MPI_Bcast(&first_side, 1, MPI_INT, 0, merged) == MPI_SUCCESS);
    /* With equal `high` the order is any, but the same in all processes. */
    if (!!high0 != !!high1) {
        CHECK(first_side == (high0 ? 1 : 0));
    }
    CHECK(rank == (s->side == first_side ? s->rank : s->remote_size + s->rank));
    /* The result is an intracommunicator. */
    int got = -1;
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT, (rank - 1 + size) % size, 0, merged,
        MPI_STATUS_IGNORE);
    CHECK(got == (rank - 1 + size) % size);
    MPI_Comm dup;
    CHECK(MPI_Comm_dup(merged, &dup) == MPI_SUCCESS);
    CHECK(MPI_Comm_free(&merged) == MPI_SUCCESS);
    CHECK(MPI_Barrier(dup) == MPI_SUCCESS);
    CHECK(MPI_Comm_free(&dup) == MPI_SUCCESS);
}

static void test_unequal_high(struct sides* s) {
    MPI_Comm merged = MPI_COMM_WORLD;
    if (s->size == 1 && s->remote_size == 1) {
        return;
    }
    MPI_Comm_set_errhandler(s->inter, MPI_ERRORS_RETURN);
    const int code = MPI_Intercomm_merge(s->inter, s->rank == 0, &merged);
    CHECK(code != MPI_SUCCESS && merged == MPI_COMM_NULL);
    MPI_Comm_set_errhandler(s->inter, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv) {
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int first = 1; first < size; ++first) {
        struct sides s = make_sides(first, first - 1, 0);
        check_merged(&s, 0, 0);
        check_merged(&s, 0, 1);
        check_merged(&s, 1, 0);
        check_merged(&s, 1, 1);
        check_merged(&s, -3, 0); /* any value but 0 is true */
        test_unequal_high(&s);
        check_merged(&s, 0, 1); /* the intercommunicator still works */
        free_sides(&s);
    }
    MPI_Finalize();
    return failures();
}
