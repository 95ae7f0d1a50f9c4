/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Intercomm_create_from_groups of processes of two jobs: a group for each job, and groups of both. All processes
 * return the error of an argument. */
#include "tests/spawn/family.h"

static void check_groups(MPI_Comm merged, int first_size) {
    MPI_Group all, sides[2];
    MPI_Comm inter = MPI_COMM_NULL;
    int rank, size, remote_size = 0, sum = 0;
    MPI_Comm_rank(merged, &rank);
    MPI_Comm_size(merged, &size);
    const int side = rank >= first_size, sizes[2] = {first_size, size - first_size};
    int first[1][3] = {{0, first_size - 1, 1}}, others[1][3] = {{first_size, size - 1, 1}};
    MPI_Comm_group(merged, &all);
    MPI_Group_range_incl(all, 1, first, &sides[0]);
    MPI_Group_range_incl(all, 1, others, &sides[1]);
    const int leader = sizes[side] - 1, remote_leader = sizes[!side] - 1;

    for (int wrong = 0; wrong < 2; ++wrong) { /* the side whose leader passes a wrong rank */
        CHECK_CLASS(MPI_Intercomm_create_from_groups(sides[side], leader, sides[!side],
                        side == wrong ? sizes[!side] : remote_leader, "t", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter),
            MPI_ERR_RANK);
        CHECK(inter == MPI_COMM_NULL);
    }
    CHECK_OK(MPI_Intercomm_create_from_groups(
        sides[side], leader, sides[!side], remote_leader, "t", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter));
    CHECK_OK(MPI_Comm_remote_size(inter, &remote_size));
    CHECK_EQUAL(remote_size, sizes[!side]);
    CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter));
    const int low = side ? 0 : first_size, high = side ? first_size : size;
    CHECK_EQUAL(sum, (high * (high - 1) - low * (low - 1)) / 2);
    CHECK_OK(MPI_Comm_free(&inter));
    MPI_Group_free(&sides[0]);
    MPI_Group_free(&sides[1]);
    MPI_Group_free(&all);
}

int main(int argc, char** argv) {
    MPI_Comm family;
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm merged = merge_with_children(2, &family);
    MPI_Comm_size(merged, &size);
    for (int first_size = 1; first_size < size; ++first_size) {
        check_groups(merged, first_size);
    }
    CHECK_OK(MPI_Comm_free(&merged));
    CHECK_OK(MPI_Comm_disconnect(&family));
    return finish();
}
