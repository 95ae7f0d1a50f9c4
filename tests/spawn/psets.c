/* SPDX-License-Identifier: BSD-3-Clause */
/* Info keys np and psets of MPI_Comm_spawn_multiple: the process sets of the new job are its own. mpirun defines the
 * sets "ocean" and "land" of rank 0 of the parents. */
#include "tests/spawn/family.h"

#include <string.h>

static int rank, size;

/* The ranks of a set in MPI_COMM_WORLD as text, "0 1 "; a process of another job is "other ". "none": no such set. */
static const char* members_of(MPI_Session session, const char* set) {
    static char text[256];
    MPI_Group group = MPI_GROUP_NULL, whole = MPI_GROUP_NULL;
    int count = 0;
    CHECK_OK(MPI_Group_from_session_pset(session, set, &group));
    if (group == MPI_GROUP_NULL) {
        return "none";
    }
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &whole));
    CHECK_OK(MPI_Group_size(group, &count));
    text[0] = '\0';
    for (int i = 0; i < count; ++i) {
        int in_world = MPI_UNDEFINED;
        CHECK_OK(MPI_Group_translate_ranks(group, 1, &i, whole, &in_world));
        char* end = text + strlen(text);
        const size_t room = (size_t)(text + sizeof text - end);
        if (in_world == MPI_UNDEFINED) {
            snprintf(end, room, "other ");
        } else {
            snprintf(end, room, "%d ", in_world);
        }
    }
    MPI_Group_free(&group);
    MPI_Group_free(&whole);
    return text;
}

static void check_set(MPI_Session session, const char* set, const char* members) {
    const char* found = members_of(session, set);
    if (strcmp(found, members) != 0) {
        fprintf(stderr, "rank %d: set %s is \"%s\", not \"%s\"\n", rank, set, found, members);
        CHECK(!"the members of a set");
    }
}

static int is_listed(MPI_Session session, const char* set) {
    int count = 0, found = 0;
    CHECK_OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count));
    for (int i = 0; i < count; ++i) {
        char name[MPI_MAX_PSET_NAME_LEN];
        int length = sizeof name;
        CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name));
        found += strcmp(name, set) == 0;
    }
    CHECK(found <= 1);
    return found;
}

static int size_in_info(MPI_Session session, const char* set) {
    MPI_Info info = MPI_INFO_NULL;
    char value[16] = "";
    int length = sizeof value, found = 0;
    CHECK_OK(MPI_Session_get_pset_info(session, set, &info));
    CHECK_OK(MPI_Info_get_string(info, "mpi_size", &length, value, &found));
    CHECK(found);
    MPI_Info_free(&info);
    return atoi(value);
}

/* The members of the set can communicate. */
static void use(MPI_Session session, const char* set, int members) {
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    int one = 1, sum = 0;
    CHECK_OK(MPI_Group_from_session_pset(session, set, &group));
    CHECK_OK(MPI_Comm_create_from_group(group, set, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQUAL(sum, members);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
}

/* The job that spawn_models() starts: two ranks of the first program, two of the second. */
static void check_models(MPI_Session session) {
    const int is_second = rank >= 2;
    CHECK_EQUAL(size, 4);
    check_set(session, "ocean", "0 1 2 3 ");
    check_set(session, "first", "0 1 ");
    check_set(session, "x://second", "2 3 ");
    check_set(session, "mpirun://app/1", "2 3 ");
    check_set(session, "land", "other "); /* of the parents */
    check_set(session, "elsewhere", "none");
    CHECK(is_listed(session, "ocean"));
    CHECK_EQUAL(is_listed(session, "first"), !is_second);
    CHECK_EQUAL(is_listed(session, "x://second"), is_second);
    CHECK(!is_listed(session, "land"));
    CHECK_EQUAL(size_in_info(session, "ocean"), 4);
    CHECK_EQUAL(size_in_info(session, "first"), 2);
    use(session, "ocean", 4);
    use(session, is_second ? "x://second" : "first", 2);
}

/* The one of spawn_from_file(), which runs at the same time. */
static void check_other(MPI_Session session) {
    CHECK_EQUAL(size, 3);
    check_set(session, "first", "0 1 2 ");
    check_set(session, "elsewhere", "0 1 2 ");
    check_set(session, "x://second", "none");
    check_set(session, "ocean", "other ");
    use(session, "first", 3);
}

static int child(const char* kind, MPI_Comm parent) {
    MPI_Session session = MPI_SESSION_NULL;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Barrier(parent)); /* both jobs run */
    if (strcmp(kind, "models") == 0) {
        check_models(session);
    } else {
        check_other(session);
    }
    CHECK_OK(MPI_Barrier(parent));
    CHECK_OK(MPI_Session_finalize(&session));
    CHECK_OK(MPI_Comm_disconnect(&parent));
    return finish();
}

static MPI_Info info_with(const char* const (*pairs)[2]) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    for (; (*pairs)[0] != NULL; ++pairs) {
        MPI_Info_set(info, (*pairs)[0], (*pairs)[1]);
    }
    return info;
}

static MPI_Comm spawn_models(void) {
    char* argv[] = {"models", NULL};
    char* commands[] = {(char*)self_path(), (char*)self_path()};
    char** argvs[] = {argv, argv};
    const int maxprocs[] = {2, 3};
    const char* first[][2] = {{"psets", "ocean, first,ocean"}, {NULL, NULL}};
    const char* second[][2] = {{"np", "2"}, {"soft", "1:3"}, {"psets", " x://second ,ocean"}, {NULL, NULL}};
    MPI_Info infos[] = {info_with(first), info_with(second)};
    const int expected[] = {MPI_SUCCESS, MPI_SUCCESS, MPI_SUCCESS, MPI_SUCCESS, MPI_ERR_SPAWN};
    int codes[5], remote = 0;
    MPI_Comm inter = MPI_COMM_NULL;
    CHECK_OK(MPI_Comm_spawn_multiple(2, commands, argvs, maxprocs, infos, 0, MPI_COMM_WORLD, &inter, codes));
    for (int i = 0; i < 5; ++i) {
        CHECK_EQUAL(codes[i], expected[i]);
    }
    CHECK_OK(MPI_Comm_remote_size(inter, &remote));
    CHECK_EQUAL(remote, 4);
    MPI_Info_free(&infos[0]);
    MPI_Info_free(&infos[1]);
    return inter;
}

static MPI_Comm spawn_from_file(void) {
    char name[] = "/tmp/patchbay_psets_XXXXXX";
    char* argv[] = {"other", NULL};
    MPI_Comm inter = MPI_COMM_NULL;
    int remote = 0;
    if (rank == 0) {
        const char text[] = "np = 3\npsets = first, elsewhere\n";
        const int fd = mkstemp(name);
        CHECK(fd >= 0 && write(fd, text, sizeof text - 1) == (ssize_t)sizeof text - 1 && close(fd) == 0);
    }
    const char* pairs[][2] = {{"file", name}, {NULL, NULL}};
    MPI_Info info = info_with(pairs);
    CHECK_OK(MPI_Comm_spawn(self_path(), argv, 4, info, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
    CHECK_OK(MPI_Comm_remote_size(inter, &remote));
    CHECK_EQUAL(remote, 3);
    MPI_Info_free(&info);
    if (rank == 0) {
        unlink(name);
    }
    return inter;
}

static void check_parents(MPI_Session session) {
    check_set(session, "ocean", "0 ");
    check_set(session, "land", "0 ");
    check_set(session, "first", "none");
    check_set(session, "elsewhere", "none");
    CHECK_EQUAL(is_listed(session, "ocean"), rank == 0);
    CHECK(!is_listed(session, "first"));
}

int main(int argc, char** argv) {
    CHECK_OK(MPI_Init(&argc, &argv));
    MPI_Comm parent = MPI_COMM_NULL;
    CHECK_OK(MPI_Comm_get_parent(&parent));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (parent != MPI_COMM_NULL) {
        return child(argv[1], parent);
    }
    MPI_Session session = MPI_SESSION_NULL;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    check_parents(session); /* the names are known before the others come */
    MPI_Comm jobs[] = {spawn_models(), spawn_from_file()};
    for (int i = 0; i < 2; ++i) {
        CHECK_OK(MPI_Barrier(jobs[i]));
    }
    check_parents(session);
    for (int i = 0; i < 2; ++i) {
        CHECK_OK(MPI_Barrier(jobs[i]));
        CHECK_OK(MPI_Comm_disconnect(&jobs[i]));
    }
    check_parents(session);
    CHECK_OK(MPI_Session_finalize(&session));
    return finish();
}
