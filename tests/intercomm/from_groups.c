/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Intercomm_create_from_groups: no communicator is used to make it. With the argument "session" nor is MPI_Init. */
#include "tests/intercomm/sides.h"

static MPI_Group world;

/* Ranks [first, last] of the world in steps. */
static MPI_Group part(int first, int last, int step) {
    MPI_Group group;
    int range[1][3] = {{first, last, step}};
    CHECK(MPI_Group_range_incl(world, 1, range, &group) == MPI_SUCCESS);
    return group;
}

/* The remote group and its leader count at the leader alone. */
static MPI_Comm make(MPI_Group local, int leader, MPI_Group remote, int remote_leader, const char* tag) {
    MPI_Comm inter = MPI_COMM_WORLD;
    int rank;
    MPI_Group_rank(local, &rank);
    const int leads = rank == leader;
    CHECK(MPI_Intercomm_create_from_groups(local, leader, leads ? remote : MPI_GROUP_NULL, leads ? remote_leader : -1,
              tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter) == MPI_SUCCESS);
    return inter;
}

static void check(MPI_Comm inter, MPI_Group local, MPI_Group remote) {
    MPI_Group group;
    int result, sum = 0, size, one = 1;
    MPI_Comm_group(inter, &group);
    CHECK(MPI_Group_compare(group, local, &result) == MPI_SUCCESS && result == MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Comm_remote_group(inter, &group);
    CHECK(MPI_Group_compare(group, remote, &result) == MPI_SUCCESS && result == MPI_IDENT);
    MPI_Group_free(&group);
    use_inter(inter, 1);
    MPI_Comm_remote_size(inter, &size);
    int *tag_ub = NULL, found = 0;
    CHECK(MPI_Comm_get_attr(inter, MPI_TAG_UB, &tag_ub, &found) == MPI_SUCCESS && found && *tag_ub >= 32767);
    CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter) == MPI_SUCCESS && sum == size);
}

static void test_halves(int rank, int size) {
    for (int first = 1; first < size; ++first) {
        MPI_Group low = part(0, first - 1, 1), high = part(size - 1, first, -1); /* the second one backwards */
        const int in_low = rank < first;
        const MPI_Group local = in_low ? low : high, remote = in_low ? high : low;
        /* The same tag again and again. */
        MPI_Comm one = make(local, 0, remote, 0, "halves"), two = make(local, 0, remote, 0, "halves");
        check(one, local, remote);
        check(two, local, remote);
        MPI_Comm merged;
        CHECK(MPI_Intercomm_merge(one, in_low, &merged) == MPI_SUCCESS);
        CHECK(MPI_Barrier(merged) == MPI_SUCCESS);
        MPI_Comm_free(&one);
        MPI_Comm dup;
        CHECK(MPI_Comm_dup(two, &dup) == MPI_SUCCESS);
        check(dup, local, remote);
        MPI_Comm_free(&two);
        MPI_Comm_free(&merged);
        MPI_Comm_free(&dup);
        MPI_Group_free(&low);
        MPI_Group_free(&high);
    }
}

/* The tag is that of communicators from the same groups, at the same time; and as long as a tag can be. */
static void test_tags(int rank, int size) {
    char longest[MPI_MAX_STRINGTAG_LEN];
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    MPI_Group low = part(0, 0, 1), high = part(1, size - 1, 1);
    const MPI_Group local = rank == 0 ? low : high, remote = rank == 0 ? high : low;
    MPI_Comm inter = make(local, 0, remote, 0, longest);
    check(inter, local, remote);
    MPI_Comm_free(&inter);
    inter = make(local, 0, remote, 0, "");
    check(inter, local, remote);
    MPI_Comm_free(&inter);
    MPI_Group_free(&low);
    MPI_Group_free(&high);
}

/* Then there is no communicator. The local one may be empty for one process alone; of the remote one the leader sends
 * the others, and the same tag serves again. */
static void test_empty_groups(int rank, int size) {
    MPI_Group all = part(0, size - 1, 1), low = part(0, 0, 1), none;
    MPI_Group_difference(low, all, &none);
    MPI_Comm made = MPI_COMM_WORLD;
    if (rank == 0) {
        CHECK(MPI_Intercomm_create_from_groups(
                  MPI_GROUP_EMPTY, 0, all, 0, "none", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made) == MPI_SUCCESS);
        CHECK(made == MPI_COMM_NULL);
        made = MPI_COMM_WORLD;
        CHECK(MPI_Intercomm_create_from_groups(
                  none, 7, MPI_GROUP_EMPTY, 7, "none", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made) == MPI_SUCCESS);
        CHECK(made == MPI_COMM_NULL);
        made = MPI_COMM_WORLD;
        CHECK(MPI_Comm_create_from_group(none, "none", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made) == MPI_SUCCESS);
        CHECK(made == MPI_COMM_NULL);
    }
    for (int leader = 0; leader < size; ++leader) {
        CHECK(make(all, leader, leader % 2 == 0 ? MPI_GROUP_EMPTY : none, leader, "none") == MPI_COMM_NULL);
    }
    MPI_Group high = part(1, size - 1, 1);
    const MPI_Group local = rank == 0 ? low : high, remote = rank == 0 ? high : low;
    made = make(local, 0, remote, 0, "none");
    check(made, local, remote);
    MPI_Comm_free(&made);
    MPI_Group_free(&none);
    MPI_Group_free(&high);
    MPI_Group_free(&low);
    MPI_Group_free(&all);
}

static void test_errors(int rank, int size) {
    MPI_Comm inter = MPI_COMM_WORLD;
    MPI_Group all = part(0, size - 1, 1), low = part(0, 0, 1);
    int code, error_class;
    /* The leader detects the error, and all processes of the group return it. */
    code = MPI_Intercomm_create_from_groups(all, 0, low, 1, "e", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter);
    MPI_Error_class(code, &error_class);
    CHECK(error_class == MPI_ERR_RANK && inter == MPI_COMM_NULL);
    inter = MPI_COMM_WORLD;
    /* The groups overlap. */
    code = MPI_Intercomm_create_from_groups(all, 0, low, 0, "e", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter);
    MPI_Error_class(code, &error_class);
    CHECK(error_class == MPI_ERR_GROUP && inter == MPI_COMM_NULL);
    code = MPI_Intercomm_create_from_groups(all, size, low, 0, "e", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter);
    MPI_Error_class(code, &error_class);
    CHECK(error_class == MPI_ERR_RANK);
    if (rank > 0) {
        code = MPI_Intercomm_create_from_groups(low, 0, all, 0, "e", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter);
        MPI_Error_class(code, &error_class);
        CHECK(error_class == MPI_ERR_GROUP);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&low);
}

static void run(void) {
    int rank, size;
    MPI_Group_rank(world, &rank);
    MPI_Group_size(world, &size);
    test_halves(rank, size);
    test_tags(rank, size);
    test_empty_groups(rank, size);
    test_errors(rank, size);
    MPI_Group_free(&world);
}

/* The session goes with communicators of it left: with them go those that the library keeps for itself. */
static void run_in_session(void) {
    MPI_Session session;
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
    CHECK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world) == MPI_SUCCESS);
    int rank, size;
    MPI_Group_rank(world, &rank);
    MPI_Group_size(world, &size);
    MPI_Group low = part(0, 0, 1), high = part(1, size - 1, 1);
    const MPI_Group local = rank == 0 ? low : high, remote = rank == 0 ? high : low;
    MPI_Comm inter = make(local, 0, remote, 0, "kept"), smaller;
    check(inter, local, remote);
    CHECK(MPI_Comm_split(inter, 0, 0, &smaller) == MPI_SUCCESS && smaller != MPI_COMM_NULL);
    check(smaller, local, remote);
    MPI_Barrier(smaller);
    MPI_Group_free(&low);
    MPI_Group_free(&high);
    run();
    CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
}

int main(int argc, char** argv) {
    if (argc > 1 && strcmp(argv[1], "session") == 0) {
        run_in_session();
        run_in_session();
        return failures();
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    run();
    MPI_Finalize();
    return failures();
}
