/* SPDX-License-Identifier: BSD-3-Clause */
/* The group functions of the C interface; what they compute is tested beside the objects. */
#include "tests/mpi_check/check.h"

static void test_accessors(MPI_Group world, int rank, int size) {
    int value = -1;
    CHECK(MPI_Group_size(world, &value) == MPI_SUCCESS && value == size);
    CHECK(MPI_Group_rank(world, &value) == MPI_SUCCESS && value == rank);
    CHECK(MPI_Group_rank(MPI_GROUP_EMPTY, &value) == MPI_SUCCESS && value == MPI_UNDEFINED);
}

static void test_ranges(MPI_Group world, int rank, int size) {
    int ranges[1][3] = {{size - 1, 0, -1}};
    MPI_Group reversed, none;
    int value = -1;
    CHECK(MPI_Group_range_incl(world, 1, ranges, &reversed) == MPI_SUCCESS);
    CHECK(MPI_Group_rank(reversed, &value) == MPI_SUCCESS && value == size - 1 - rank);
    CHECK(MPI_Group_compare(world, reversed, &value) == MPI_SUCCESS);
    CHECK(value == (size == 1 ? MPI_IDENT : MPI_SIMILAR));
    CHECK(MPI_Group_range_excl(world, 1, ranges, &none) == MPI_SUCCESS && none == MPI_GROUP_EMPTY);
    CHECK(MPI_Group_free(&none) == MPI_SUCCESS && none == MPI_GROUP_NULL);
    CHECK(MPI_Group_free(&reversed) == MPI_SUCCESS);
}

static void test_sets(MPI_Group world, int size) {
    int first = 0, value = -1;
    MPI_Group one, rest, all, common;
    CHECK(MPI_Group_incl(world, 1, &first, &one) == MPI_SUCCESS);
    CHECK(MPI_Group_excl(world, 1, &first, &rest) == MPI_SUCCESS);
    CHECK(MPI_Group_union(one, rest, &all) == MPI_SUCCESS);
    CHECK(MPI_Group_compare(all, world, &value) == MPI_SUCCESS && value == MPI_IDENT);
    CHECK(MPI_Group_intersection(one, rest, &common) == MPI_SUCCESS && common == MPI_GROUP_EMPTY);
    CHECK(MPI_Group_difference(world, one, &common) == MPI_SUCCESS);
    CHECK(MPI_Group_size(common, &value) == MPI_SUCCESS && value == size - 1);
    int ranks[2] = {0, MPI_PROC_NULL}, translated[2] = {-7, -7};
    CHECK(MPI_Group_translate_ranks(world, 2, ranks, common, translated) == MPI_SUCCESS);
    CHECK(translated[0] == MPI_UNDEFINED && translated[1] == MPI_PROC_NULL);
    MPI_Group_free(&one);
    MPI_Group_free(&rest);
    MPI_Group_free(&all);
    MPI_Group_free(&common);
}

static void test_errors(MPI_Group world, int size) {
    int twice[2] = {0, 0}, value;
    int endless[1][3] = {{0, 1, 0}};
    MPI_Group made;
    CHECK(MPI_Group_incl(world, 1, &size, &made) == MPI_ERR_RANK);
    CHECK(MPI_Group_incl(world, 2, twice, &made) == MPI_ERR_RANK);
    CHECK(MPI_Group_incl(world, -1, twice, &made) == MPI_ERR_ARG);
    CHECK(MPI_Group_range_incl(world, 1, endless, &made) == MPI_ERR_ARG);
    CHECK(MPI_Group_size(MPI_GROUP_NULL, &value) == MPI_ERR_GROUP);
    CHECK(MPI_Group_size((MPI_Group)MPI_INFO_ENV, &value) == MPI_ERR_GROUP);
}

int main(int argc, char** argv) {
    int rank, size;
    MPI_Group world;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(MPI_Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS);
    test_accessors(world, rank, size);
    test_ranges(world, rank, size);
    test_sets(world, size);
    test_errors(world, size);
    CHECK(MPI_Group_free(&world) == MPI_SUCCESS);
    MPI_Finalize();
    return failures();
}
