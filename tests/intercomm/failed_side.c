/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Intercomm_create_from_groups fails in one group, or in one of its processes, before this group knows the other
 * one: both groups get an error, and the same tag serves again. */
#include "tests/intercomm/sides.h"

static MPI_Group low, high;
static int rank, size;

/* `last`: whether the last processes of the groups lead, and not the first ones. */
static int make(int is_low, int last, MPI_Info info, MPI_Comm* inter) {
    const MPI_Group local = is_low ? low : high, remote = is_low ? high : low;
    int size_of_local, size_of_remote;
    MPI_Group_size(local, &size_of_local);
    MPI_Group_size(remote, &size_of_remote);
    *inter = MPI_COMM_WORLD;
    return MPI_Intercomm_create_from_groups(local, last ? size_of_local - 1 : 0, remote, last ? size_of_remote - 1 : 0,
        "side", info, MPI_ERRORS_RETURN, inter);
}

int main(int argc, char** argv) {
    MPI_Group world;
    MPI_Info unknown;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Info_create(&unknown);
    MPI_Info_set(unknown, "patchbay_cid", "nonexistent");
    int half = size / 2, ranges[2][3] = {{0, half - 1, 1}, {half, size - 1, 1}};
    CHECK_OK(MPI_Group_range_incl(world, 1, &ranges[0], &low));
    CHECK_OK(MPI_Group_range_incl(world, 1, &ranges[1], &high));
    const int is_low = rank < half;
    MPI_Comm inter;
    /* `failing`: one process of the first group, or its last one + 1: all of them. */
    for (int failing = 0; failing <= half; ++failing) {
        const int fails = is_low && (failing == half || failing == rank);
        for (int last = 0; last < 2; ++last) {
            for (int attempt = 0; attempt < 2; ++attempt) {
                CHECK(make(is_low, last, fails ? unknown : MPI_INFO_NULL, &inter) != MPI_SUCCESS);
                CHECK(inter == MPI_COMM_NULL);
            }
            CHECK_OK(make(is_low, last, MPI_INFO_NULL, &inter));
            use_inter(inter, 1);
            MPI_Comm_free(&inter);
        }
    }
    MPI_Info_free(&unknown);
    MPI_Group_free(&low);
    MPI_Group_free(&high);
    MPI_Group_free(&world);
    return finish();
}
