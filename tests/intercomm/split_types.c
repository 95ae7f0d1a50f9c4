/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_split_type on an intercommunicator: the union of the two groups of a result is one part of the same split of
 * all processes, if both sides have processes in this part. */
#include "tests/intercomm/sides.h"

/* An unguided split stores the type of the hardware resource in the info of the result. */
static void check_kind(MPI_Comm made, int type) {
    MPI_Info hints;
    char value[64] = "";
    int length = sizeof value, flag = 0;
    CHECK(MPI_Comm_get_info(made, &hints) == MPI_SUCCESS);
    CHECK(MPI_Info_get_string(hints, "mpi_hw_resource_type", &length, value, &flag) == MPI_SUCCESS);
    CHECK(type != MPI_COMM_TYPE_HW_UNGUIDED || (flag && value[0] != 0));
    MPI_Info_free(&hints);
}

/* Both groups of `inter`, or of a part of it, must be those of the parts of `expected` on either side; MPI_COMM_NULL
 * stands for none. Frees both. */
static void compare(const struct sides* s, MPI_Comm expected, MPI_Comm made, int type, int number) {
    int own[2] = {0, 0}, both[2] = {0, 0}, value;
    if (expected != MPI_COMM_NULL) {
        own[s->side] = 1;
        MPI_Allreduce(own, both, 2, MPI_INT, MPI_SUM, expected);
    }
    if (both[0] == 0 || both[1] == 0) {
        CHECK(made == MPI_COMM_NULL);
    } else {
        int flag = 0, rank, world_rank, world_ranks[64];
        CHECK(MPI_Comm_test_inter(made, &flag) == MPI_SUCCESS && flag);
        CHECK(MPI_Comm_size(made, &value) == MPI_SUCCESS && value == both[s->side]);
        CHECK(MPI_Comm_remote_size(made, &value) == MPI_SUCCESS && value == both[1 - s->side]);
        /* The key was the opposite of the rank. */
        MPI_Comm_rank(made, &rank);
        MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
        CHECK(MPI_Allgather(&world_rank, 1, MPI_INT, world_ranks, 1, MPI_INT, made) == MPI_SUCCESS);
        for (int i = 1; i < both[1 - s->side]; ++i) {
            CHECK(world_ranks[i] < world_ranks[i - 1]);
        }
        use_inter(made, number);
        check_kind(made, type);
        CHECK(MPI_Barrier(made) == MPI_SUCCESS);
    }
    if (made != MPI_COMM_NULL) {
        CHECK(MPI_Comm_free(&made) == MPI_SUCCESS);
    }
    if (expected != MPI_COMM_NULL) {
        MPI_Comm_free(&expected);
    }
}

static void test(const struct sides* s, int type, const char* key, const char* value, int number) {
    MPI_Comm expected = MPI_COMM_WORLD, made = MPI_COMM_WORLD;
    MPI_Info info = MPI_INFO_NULL;
    if (key != NULL) {
        MPI_Info_create(&info);
        MPI_Info_set(info, key, value);
    }
    CHECK(MPI_Comm_split_type(MPI_COMM_WORLD, type, 0, info, &expected) == MPI_SUCCESS);
    CHECK(MPI_Comm_split_type(s->inter, type, -s->rank, info, &made) == MPI_SUCCESS);
    compare(s, expected, made, type, number);
    if (info != MPI_INFO_NULL) {
        MPI_Info_free(&info);
    }
}

/* `takes_part`: whether this process does; the others pass MPI_UNDEFINED. */
static void test_types(const struct sides* s, int takes_part) {
    static const char kind[] = "mpi_hw_resource_type", set[] = "mpi_pset_name";
    const int guided = takes_part ? MPI_COMM_TYPE_HW_GUIDED : MPI_UNDEFINED;
    const int by_resource = takes_part ? MPI_COMM_TYPE_RESOURCE_GUIDED : MPI_UNDEFINED;
    test(s, takes_part ? MPI_COMM_TYPE_SHARED : MPI_UNDEFINED, NULL, NULL, 1);
    test(s, takes_part ? MPI_COMM_TYPE_HW_UNGUIDED : MPI_UNDEFINED, NULL, NULL, 2);
    test(s, guided, kind, "mpi_shared_memory", 3);
    test(s, guided, kind, "hwloc://Package", 4);
    test(s, guided, kind, "hwloc://Core", 5);
    test(s, guided, kind, "tape drive", 6);
    test(s, guided, NULL, NULL, 7);
    test(s, by_resource, kind, "hwloc://PU", 8);
    test(s, by_resource, set, "mpi://WORLD", 9);
    test(s, by_resource, set, "mpi://SELF", 10); /* no process is on both sides */
}

/* All processes that take part are on one node. */
static void test_shared(const struct sides* s) {
    MPI_Comm made, smaller;
    MPI_Info info, hints;
    char value[8] = "";
    int length = sizeof value, flag = 0;
    MPI_Info_create(&info);
    MPI_Info_set(info, "patchbay_cid", "mask");
    CHECK(MPI_Comm_split_type(s->inter, MPI_COMM_TYPE_SHARED, 0, info, &made) == MPI_SUCCESS);
    MPI_Info_free(&info);
    CHECK(made != MPI_COMM_NULL);
    CHECK(MPI_Comm_compare(made, s->inter, &flag) == MPI_SUCCESS && flag == MPI_CONGRUENT);
    CHECK(MPI_Comm_get_info(made, &hints) == MPI_SUCCESS);
    CHECK(MPI_Info_get_string(hints, "patchbay_cid", &length, value, &flag) == MPI_SUCCESS && flag);
    CHECK(strcmp(value, "mask") == 0);
    MPI_Info_free(&hints);
    /* The result can be split again. Side 1 has no process in it. */
    CHECK(MPI_Comm_split_type(made, s->side == 1 ? MPI_UNDEFINED : MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL,
              &smaller) == MPI_SUCCESS);
    CHECK(smaller == MPI_COMM_NULL);
    CHECK(MPI_Comm_split_type(made, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &smaller) == MPI_SUCCESS);
    CHECK(MPI_Comm_free(&made) == MPI_SUCCESS);
    use_inter(smaller, 11);
    CHECK(MPI_Comm_free(&smaller) == MPI_SUCCESS);
    CHECK(MPI_Comm_split_type(s->inter, -7, 0, MPI_INFO_NULL, &made) == MPI_ERR_ARG);
}

int main(int argc, char** argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int first_size = 1; first_size < size; ++first_size) {
        struct sides s = make_sides(first_size, 0, 0);
        MPI_Comm_set_errhandler(s.inter, MPI_ERRORS_RETURN);
        test_types(&s, 1);
        test_types(&s, rank != 0); /* side 0 has one process less, or none */
        test_types(&s, rank % 2 == 0);
        test_types(&s, s.side == 0);
        test_shared(&s);
        free_sides(&s);
    }
    MPI_Finalize();
    return failures();
}
