/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions one by one (MPI-5.0, 11.3): MPI_Session_init, info, process sets, MPI_Session_finalize; with and without
   MPI_Init. */
#include "tests/mpi_check/check.h"
#include "tests/sessions/session_check.h"

#include <mpix.h>
#include <stdlib.h>

static int size_of_pset(MPI_Session session, const char* name) {
    MPI_Info info = MPI_INFO_NULL;
    char value[32] = "";
    int length = sizeof value, flag = 0;
    CHECK(MPI_Session_get_pset_info(session, name, &info) == MPI_SUCCESS);
    CHECK(MPI_Info_get_string(info, "mpi_size", &length, value, &flag) == MPI_SUCCESS && flag);
    MPI_Info_free(&info);
    return atoi(value);
}

static void check_names(MPI_Session session) {
    int number = 0, world = 0, self = 0;
    CHECK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &number) == MPI_SUCCESS && number >= 3);
    for (int n = 0; n < number; ++n) {
        char name[MPI_MAX_PSET_NAME_LEN], cut[4];
        int length = 0, buffer_length = sizeof name, short_length = sizeof cut;
        CHECK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &length, NULL) == MPI_SUCCESS);
        CHECK(length > 1 && length <= MPI_MAX_PSET_NAME_LEN);
        CHECK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &buffer_length, name) == MPI_SUCCESS);
        CHECK(buffer_length == length && (int)strlen(name) == length - 1);
        CHECK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &short_length, cut) == MPI_SUCCESS);
        CHECK(short_length == length && strlen(cut) == 3 && strncmp(cut, name, 3) == 0);
        CHECK(size_of_pset(session, name) >= 1);
        world += strcmp(name, "mpi://WORLD") == 0;
        self += strcmp(name, "mpi://SELF") == 0;
    }
    CHECK(world == 1 && self == 1);
    CHECK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, number, &number, NULL) == MPI_ERR_ARG);
}

static void check_groups(MPI_Session session, int expected) {
    MPI_Group world, self, shared, again, unknown = MPI_GROUP_EMPTY;
    int size = 0, rank = -1, same = 0;
    CHECK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world) == MPI_SUCCESS);
    MPI_Group_size(world, &size);
    MPI_Group_rank(world, &rank);
    CHECK(size == expected && rank >= 0 && rank < size && size == size_of_pset(session, "mpi://WORLD"));
    CHECK(MPI_Group_from_session_pset(session, "MPI://World", &again) == MPI_SUCCESS);
    CHECK(MPI_Group_compare(world, again, &same) == MPI_SUCCESS && same == MPI_IDENT);
    MPI_Group_free(&again);
    CHECK(MPI_Group_from_session_pset(session, "mpi://SELF", &self) == MPI_SUCCESS);
    MPI_Group_size(self, &size);
    CHECK(size == 1);
    CHECK(MPI_Group_from_session_pset(session, MPIX_PSET_SHARED, &shared) == MPI_SUCCESS);
    CHECK(MPI_Group_compare(world, shared, &same) == MPI_SUCCESS && same == MPI_IDENT); /* the tests run on one node */
    CHECK(MPI_Group_intersection(world, self, &again) == MPI_SUCCESS);
    CHECK(MPI_Group_compare(again, self, &same) == MPI_SUCCESS && same == MPI_IDENT);
    CHECK(MPI_Group_from_session_pset(session, "test://not/defined", &unknown) == MPI_SUCCESS);
    CHECK(unknown == MPI_GROUP_NULL);
    MPI_Group_free(&world);
    MPI_Group_free(&self);
    MPI_Group_free(&shared);
    MPI_Group_free(&again);
}

static void check_session(int expected) {
    MPI_Session session = MPI_SESSION_NULL;
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS && session != MPI_SESSION_NULL);
    CHECK(MPI_Session_fromint(MPI_Session_toint(session)) == session);
    check_info(session, "mpi_memory_alloc_kinds", "mpi,system");
    check_info(session, "thread_level", "MPI_THREAD_FUNNELED"); /* without a thread_level in the info */
    check_names(session);
    check_groups(session, expected);
    CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS && session == MPI_SESSION_NULL);
}

static void check_thread_levels(void) {
    const char* levels[] = {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"};
    MPI_Session sessions[4], none = MPI_SESSION_NULL;
    for (int i = 0; i < 4; ++i) {
        sessions[i] = open_session(levels[i]);
        check_info(sessions[i], "thread_level", levels[i]);
    }
    for (int i = 0; i < 4; ++i) {
        check_info(sessions[i], "thread_level", levels[i]); /* later sessions have not changed it */
    }
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_NONE");
    CHECK(MPI_Session_init(info, MPI_ERRORS_RETURN, &none) == MPI_ERR_INFO_VALUE && none == MPI_SESSION_NULL);
    MPI_Info_free(&info);
    for (int i = 0; i < 4; ++i) {
        MPI_Session_finalize(&sessions[i]);
    }
}

static void check_mistakes(void) {
    MPI_Session session = open_session(NULL), null = MPI_SESSION_NULL;
    int number = 0, flag = 0;
    MPI_Group group;
    CHECK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, NULL) == MPI_ERR_ARG);
    CHECK(MPI_Group_from_session_pset(session, NULL, &group) == MPI_ERR_ARG);
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, NULL) == MPI_ERR_ARG);
    MPI_Initialized(&flag);
    if (flag) { /* without a session the error goes to MPI_COMM_SELF */
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        CHECK(MPI_Session_get_num_psets(null, MPI_INFO_NULL, &number) == MPI_ERR_SESSION);
        CHECK(MPI_Session_finalize(&null) == MPI_ERR_SESSION);
    }
    CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
}

/* One call must not have groups of two sessions, or of a session and the world model. */
static void check_mixtures(int with_world) {
    MPI_Session one = open_session(NULL), other = open_session(NULL);
    MPI_Group first, second, world, out;
    int result = 0, rank = 0;
    MPI_Group_from_session_pset(one, "mpi://WORLD", &first);
    MPI_Group_from_session_pset(other, "mpi://WORLD", &second);
    CHECK(MPI_Group_union(first, second, &out) == MPI_ERR_SESSION);
    CHECK(MPI_Group_intersection(first, second, &out) == MPI_ERR_SESSION);
    CHECK(MPI_Group_difference(first, second, &out) == MPI_ERR_SESSION);
    CHECK(MPI_Group_compare(first, second, &result) == MPI_ERR_SESSION);
    CHECK(MPI_Group_translate_ranks(first, 1, &rank, second, &result) == MPI_ERR_SESSION);
    CHECK(MPI_Group_union(first, MPI_GROUP_EMPTY, &out) == MPI_SUCCESS);
    MPI_Group_free(&out);
    if (with_world) {
        MPI_Comm comm;
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        CHECK(MPI_Group_union(first, world, &out) == MPI_ERR_SESSION);
        CHECK(MPI_Comm_create_group(MPI_COMM_WORLD, first, 3, &comm) == MPI_ERR_SESSION);
        CHECK(MPI_Comm_create(MPI_COMM_WORLD, first, &comm) == MPI_ERR_SESSION);
        MPI_Group_free(&world);
    }
    MPI_Group_free(&first);
    MPI_Group_free(&second);
    MPI_Session_finalize(&one);
    MPI_Session_finalize(&other);
}

int main(int argc, char** argv) {
    int size = 0, flag = -1, argc_copy = argc;
    MPI_Session across = open_session(NULL);
    size = size_of_pset(across, "mpi://WORLD");
    MPI_Session_finalize(&across);
    check_session(size);
    check_session(size); /* again after the last one */
    check_thread_levels();
    check_mistakes();
    check_mixtures(0);
    CHECK(MPI_Initialized(&flag) == MPI_SUCCESS && !flag);

    across = open_session("MPI_THREAD_SINGLE");
    MPI_Init(&argc_copy, &argv);
    check_session(size);
    check_thread_levels();
    check_mistakes();
    check_mixtures(1);
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size);
    MPI_Finalize();
    CHECK(MPI_Finalized(&flag) == MPI_SUCCESS && flag);
    check_session(size);
    CHECK(MPI_Session_finalize(&across) == MPI_SUCCESS);
    check_session(size); /* after MPI_Finalize and the last session */
    return failures();
}
