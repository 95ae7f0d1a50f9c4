/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_spawn and MPI_Comm_spawn_multiple: what the parents and the children see of each other. The children are
 * this program with arguments. */
#include "tests/spawn/family.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

/* Each side sends its ranks to the other one, and the union makes a collective. */
static void check_exchange(MPI_Comm inter, int is_child) {
    int local = 0, local_size = 0, remote_size = 0, sum = 0, all = 0;
    MPI_Comm merged = MPI_COMM_NULL;
    CHECK_OK(MPI_Comm_rank(inter, &local));
    CHECK_OK(MPI_Comm_size(inter, &local_size));
    CHECK_OK(MPI_Comm_remote_size(inter, &remote_size));
    for (int peer = 0; peer < remote_size; ++peer) {
        int sent = 100 * is_child + local, received = -1;
        CHECK_OK(MPI_Sendrecv(&sent, 1, MPI_INT, peer, 7, &received, 1, MPI_INT, peer, 7, inter, MPI_STATUS_IGNORE));
        CHECK_EQUAL(received, 100 * !is_child + peer);
    }
    CHECK_OK(MPI_Allreduce(&local, &sum, 1, MPI_INT, MPI_SUM, inter));
    CHECK_EQUAL(sum, remote_size * (remote_size - 1) / 2);
    CHECK_OK(MPI_Intercomm_merge(inter, is_child, &merged));
    CHECK_OK(MPI_Comm_size(merged, &all));
    CHECK_EQUAL(all, local_size + remote_size);
    CHECK_OK(MPI_Comm_rank(merged, &sum));
    CHECK_EQUAL(sum, is_child ? remote_size + local : local);
    all = -1;
    CHECK_OK(MPI_Allreduce(&local, &all, 1, MPI_INT, MPI_MAX, merged));
    CHECK_EQUAL(all, (local_size > remote_size ? local_size : remote_size) - 1);
    CHECK_OK(MPI_Comm_disconnect(&merged));
}

static int attribute(int keyval) {
    int* value = NULL;
    int found = 0;
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &value, &found));
    return found ? *value : -1;
}

/* The process set mpi://WORLD is this job, in a session too. */
static void check_process_set(void) {
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Group world = MPI_GROUP_NULL, set = MPI_GROUP_NULL;
    int result = MPI_UNEQUAL;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &set));
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Group_compare(world, set, &result));
    CHECK_EQUAL(result, MPI_IDENT);
    MPI_Group_free(&world);
    MPI_Group_free(&set);
    CHECK_OK(MPI_Session_finalize(&session));
}

static int child(int argc, char** argv) {
    MPI_Comm parent = MPI_COMM_NULL, again = MPI_COMM_NULL;
    char name[MPI_MAX_OBJECT_NAME];
    int length = 0;
    CHECK_OK(MPI_Comm_get_parent(&parent));
    CHECK(parent != MPI_COMM_NULL);
    CHECK_OK(MPI_Comm_get_parent(&again));
    CHECK(parent == again);
    CHECK_OK(MPI_Comm_get_name(parent, name, &length));
    CHECK(strcmp(name, "MPI_COMM_PARENT") == 0);
    CHECK_EQUAL(argc, 4);
    CHECK_EQUAL(size, atoi(argv[2]));
    CHECK_EQUAL(attribute(MPI_APPNUM), argv[3][0] == 'x' ? rank != 0 : 0);
    check_process_set();
    check_exchange(parent, 1);
    int universe = 0;
    CHECK_OK(MPI_Bcast(&universe, 1, MPI_INT, 0, parent));
    int parents = 0;
    CHECK_OK(MPI_Comm_remote_size(parent, &parents));
    CHECK(attribute(MPI_UNIVERSE_SIZE) >= universe);
    CHECK(attribute(MPI_UNIVERSE_SIZE) >= size + parents);
    CHECK_OK(MPI_Comm_disconnect(&parent));
    CHECK(parent == MPI_COMM_NULL);
    CHECK_OK(MPI_Comm_get_parent(&parent));
    CHECK(parent == MPI_COMM_NULL);
    return finish();
}

static void end(MPI_Comm* inter) {
    int universe = attribute(MPI_UNIVERSE_SIZE), root = rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    check_exchange(*inter, 0);
    CHECK_OK(MPI_Bcast(&universe, 1, MPI_INT, root, *inter));
    CHECK_OK(MPI_Comm_disconnect(inter));
}

static void spawn_one(int children, int root, MPI_Comm comm) {
    char number[16];
    int codes[8];
    MPI_Comm inter = MPI_COMM_NULL;
    snprintf(number, sizeof number, "%d", children);
    char* argv[] = {"child", number, "a b\tc", NULL};
    memset(codes, -1, sizeof codes);
    /* The other arguments are significant at the root only. */
    const int is_root = rank == root;
    CHECK_OK(MPI_Comm_spawn(is_root ? self_path() : NULL, is_root ? argv : NULL, is_root ? children : -1,
        is_root ? MPI_INFO_NULL : (MPI_Info)0, root, comm, &inter, codes));
    for (int i = 0; i < children; ++i) {
        CHECK_EQUAL(codes[i], MPI_SUCCESS);
    }
    CHECK_EQUAL(codes[children], -1);
    int remote = 0;
    CHECK_OK(MPI_Comm_remote_size(inter, &remote));
    CHECK_EQUAL(remote, children);
    end(&inter);
}

static void spawn_two_programs(void) {
    char* first[] = {"child", "3", "x", NULL};
    char* second[] = {"child", "3", "x", NULL};
    char* commands[] = {(char*)self_path(), (char*)self_path()};
    char** argvs[] = {first, second};
    const int maxprocs[] = {1, 2};
    const MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    int codes[3] = {-1, -1, -1};
    MPI_Comm inter = MPI_COMM_NULL;
    CHECK_OK(MPI_Comm_spawn_multiple(2, commands, argvs, maxprocs, infos, 0, MPI_COMM_WORLD, &inter, codes));
    for (int i = 0; i < 3; ++i) {
        CHECK_EQUAL(codes[i], MPI_SUCCESS);
    }
    end(&inter);
}

int main(int argc, char** argv) {
    CHECK_OK(MPI_Init(&argc, &argv));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1) {
        return child(argc, argv);
    }
    MPI_Comm parent = MPI_COMM_WORLD;
    CHECK_OK(MPI_Comm_get_parent(&parent));
    CHECK(parent == MPI_COMM_NULL);
    spawn_one(1, 0, MPI_COMM_WORLD);
    spawn_one(3, size - 1, MPI_COMM_WORLD);
    spawn_one(2, 0, MPI_COMM_WORLD);
    if (size > 1) { /* each process for itself, at the same time */
        int mine = rank;
        rank = 0;
        spawn_one(1, 0, MPI_COMM_SELF);
        rank = mine;
    }
    spawn_two_programs();
    return finish();
}
