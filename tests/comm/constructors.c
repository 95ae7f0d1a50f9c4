/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking constructors of communicators, and the inquiry functions on the results. */
#include "tests/mpi_check/check.h"

#include <string.h>

static int rank, size;

/* The new communicator works, and its parent receives no message that was sent on it. */
static void use(MPI_Comm comm) {
    int my_rank, my_size, sum = 0;
    MPI_Comm_rank(comm, &my_rank);
    MPI_Comm_size(comm, &my_size);
    CHECK(MPI_Allreduce(&my_rank, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
    CHECK(sum == my_size * (my_size - 1) / 2);
}

static void test_dup(void) {
    MPI_Comm dup;
    int result, length;
    char name[MPI_MAX_OBJECT_NAME];
    CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &dup) == MPI_SUCCESS);
    CHECK(MPI_Comm_compare(MPI_COMM_WORLD, dup, &result) == MPI_SUCCESS && result == MPI_CONGRUENT);
    CHECK(MPI_Comm_compare(dup, dup, &result) == MPI_SUCCESS && result == MPI_IDENT);
    CHECK(MPI_Comm_get_name(dup, name, &length) == MPI_SUCCESS && length == 0);
    CHECK(MPI_Comm_set_name(dup, "second") == MPI_SUCCESS);
    CHECK(MPI_Comm_get_name(dup, name, &length) == MPI_SUCCESS && length == 6 && strcmp(name, "second") == 0);
    use(dup);

    /* One message on each of two communicators, received in the opposite order. */
    int here = rank, there = 1000 + rank, got_here = -1, got_there = -1;
    MPI_Request requests[2];
    MPI_Isend(&here, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&there, 1, MPI_INT, (rank + 1) % size, 5, dup, &requests[1]);
    MPI_Recv(&got_there, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, dup, MPI_STATUS_IGNORE);
    MPI_Recv(&got_here, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(got_here == (rank - 1 + size) % size && got_there == 1000 + got_here);
    CHECK(MPI_Comm_free(&dup) == MPI_SUCCESS && dup == MPI_COMM_NULL);
}

static void test_split(void) {
    MPI_Comm half, reversed;
    int value;
    CHECK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half) == MPI_SUCCESS);
    CHECK(MPI_Comm_size(half, &value) == MPI_SUCCESS && value == (size + 1 - rank % 2) / 2);
    CHECK(MPI_Comm_rank(half, &value) == MPI_SUCCESS && value == rank / 2);
    use(half);
    CHECK(MPI_Comm_free(&half) == MPI_SUCCESS);

    CHECK(MPI_Comm_split(MPI_COMM_WORLD, 7, -rank, &reversed) == MPI_SUCCESS);
    CHECK(MPI_Comm_rank(reversed, &value) == MPI_SUCCESS && value == size - 1 - rank);
    CHECK(MPI_Comm_compare(MPI_COMM_WORLD, reversed, &value) == MPI_SUCCESS);
    CHECK(value == (size == 1 ? MPI_CONGRUENT : MPI_SIMILAR));
    use(reversed);
    CHECK(MPI_Comm_free(&reversed) == MPI_SUCCESS);

    CHECK(MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 0, 0, &half) == MPI_SUCCESS);
    CHECK((half == MPI_COMM_NULL) == (rank == 0));
    if (half != MPI_COMM_NULL) {
        use(half);
        CHECK(MPI_Comm_free(&half) == MPI_SUCCESS);
    }
}

static void test_create(void) {
    MPI_Group world, part, own;
    MPI_Comm comm;
    int result, ranges[1][3] = {{0, size - 1, 2}};
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, ranges, &part);
    CHECK(MPI_Comm_create(MPI_COMM_WORLD, part, &comm) == MPI_SUCCESS);
    CHECK((comm == MPI_COMM_NULL) == (rank % 2 == 1));
    if (comm != MPI_COMM_NULL) {
        CHECK(MPI_Comm_group(comm, &own) == MPI_SUCCESS);
        CHECK(MPI_Group_compare(own, part, &result) == MPI_SUCCESS && result == MPI_IDENT);
        MPI_Group_free(&own);
        use(comm);
        MPI_Comm_free(&comm);
        /* Only the members call MPI_Comm_create_group. */
        CHECK(MPI_Comm_create_group(MPI_COMM_WORLD, part, 17, &comm) == MPI_SUCCESS);
        use(comm);
        CHECK(MPI_Comm_disconnect(&comm) == MPI_SUCCESS && comm == MPI_COMM_NULL);
    }
    /* One call of MPI_Comm_create with disjoint groups. */
    MPI_Group mine;
    MPI_Group_incl(world, 1, &rank, &mine);
    CHECK(MPI_Comm_create(MPI_COMM_WORLD, mine, &comm) == MPI_SUCCESS);
    CHECK(MPI_Comm_compare(comm, MPI_COMM_SELF, &result) == MPI_SUCCESS && result == MPI_CONGRUENT);
    MPI_Comm_free(&comm);
    CHECK(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &comm) == MPI_SUCCESS && comm == MPI_COMM_NULL);
    MPI_Group_free(&mine);
    MPI_Group_free(&part);
    MPI_Group_free(&world);
}

static int has_value(MPI_Info info, const char* key, const char* expected) {
    char value[64] = "";
    int flag = 0, length = sizeof value;
    return MPI_Info_get_string(info, key, &length, value, &flag) == MPI_SUCCESS && flag && strcmp(value, expected) == 0;
}

/* The assertions have default values, which a communicator has, too (MPI-5.0, 7.4.4). */
static void test_default_info(void) {
    MPI_Info used;
    CHECK(MPI_Comm_get_info(MPI_COMM_WORLD, &used) == MPI_SUCCESS);
    CHECK(has_value(used, "mpi_assert_no_any_tag", "false"));
    CHECK(has_value(used, "mpi_assert_no_any_source", "false"));
    CHECK(has_value(used, "mpi_assert_exact_length", "false"));
    CHECK(has_value(used, "mpi_assert_allow_overtaking", "false"));
    CHECK(has_value(used, "mpi_assert_strict_persistent_collective_ordering", "false"));
    MPI_Info_free(&used);
}

static void test_info(void) {
    MPI_Info info, used;
    MPI_Comm dup, child;
    char value[64];
    int flag = 0, length = sizeof value;
    test_default_info();
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Info_set(info, "patchbay_coll", "basic");
    CHECK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &dup) == MPI_SUCCESS);
    CHECK(MPI_Comm_get_info(dup, &used) == MPI_SUCCESS);
    CHECK(has_value(used, "mpi_assert_no_any_tag", "true"));
    MPI_Info_free(&used);
    use(dup);

    /* A child does not inherit hints; it inherits the choice of components. */
    CHECK(MPI_Comm_dup(dup, &child) == MPI_SUCCESS);
    CHECK(MPI_Comm_get_info(child, &used) == MPI_SUCCESS);
    CHECK(has_value(used, "mpi_assert_no_any_tag", "false"));
    length = sizeof value;
    CHECK(MPI_Info_get_string(used, "patchbay_coll", &length, value, &flag) == MPI_SUCCESS && flag);
    MPI_Info_free(&used);
    use(child);
    MPI_Comm_free(&child);

    /* An assertion is boolean. */
    MPI_Info_set(info, "mpi_assert_no_any_tag", "yes");
    MPI_Info_set(info, "mpi_assert_no_any_source", " true ");
    CHECK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &child) == MPI_SUCCESS);
    CHECK(MPI_Comm_get_info(child, &used) == MPI_SUCCESS);
    CHECK(has_value(used, "mpi_assert_no_any_tag", "false"));
    CHECK(has_value(used, "mpi_assert_no_any_source", "true"));
    MPI_Info_free(&used);
    MPI_Comm_free(&child);

    MPI_Info_set(info, "patchbay_coll", "none_such");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &child) != MPI_SUCCESS && child == MPI_COMM_NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Info_free(&info);
    MPI_Comm_free(&dup);
}

/* A pending receive keeps a freed communicator. */
static void test_deferred_free(void) {
    MPI_Comm dup;
    MPI_Request request;
    int value = -1;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Irecv(&value, 1, MPI_INT, (rank - 1 + size) % size, 3, dup, &request);
    MPI_Request sent;
    MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 3, dup, &sent);
    CHECK(MPI_Comm_free(&dup) == MPI_SUCCESS);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(value == (rank - 1 + size) % size);
}

static void test_errors(void) {
    MPI_Comm comm = MPI_COMM_WORLD, made;
    MPI_Group group;
    int value, length;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(MPI_Comm_free(&comm) == MPI_ERR_COMM);
    comm = MPI_COMM_NULL;
    CHECK(MPI_Comm_free(&comm) == MPI_ERR_COMM);
    CHECK(MPI_Comm_split(MPI_COMM_WORLD, -3, 0, &made) == MPI_ERR_ARG);
    CHECK(MPI_Comm_split_type(MPI_COMM_WORLD, 12345, 0, MPI_INFO_NULL, &made) == MPI_ERR_ARG);
    CHECK(MPI_Comm_remote_size(MPI_COMM_WORLD, &value) == MPI_ERR_COMM);
    CHECK(MPI_Comm_remote_group(MPI_COMM_WORLD, &group) == MPI_ERR_COMM);
    CHECK(MPI_Comm_test_inter(MPI_COMM_WORLD, &value) == MPI_SUCCESS && value == 0);
    CHECK(MPI_Comm_get_parent(&made) == MPI_SUCCESS && made == MPI_COMM_NULL);
    CHECK(MPI_Comm_get_name(MPI_COMM_WORLD, name, &length) == MPI_SUCCESS && strcmp(name, "MPI_COMM_WORLD") == 0);
    CHECK(MPI_Comm_get_name(MPI_COMM_NULL, name, &length) == MPI_SUCCESS && strcmp(name, "MPI_COMM_NULL") == 0);
    if (size > 1) {
        MPI_Comm_group(MPI_COMM_WORLD, &group);
        CHECK(MPI_Comm_create(MPI_COMM_SELF, group, &made) == MPI_ERR_GROUP);
        MPI_Group_free(&group);
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    test_dup();
    test_split();
    test_create();
    test_info();
    test_deferred_free();
    test_errors();
    MPI_Finalize();
    return failures();
}
