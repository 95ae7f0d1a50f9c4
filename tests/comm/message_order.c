/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_create_from_group with several operation keys at one time. The members call it in different orders, so that
 * bootstrap messages of one key arrive while a process waits for those of another. The keys consist of a group and a
 * string tag: three groups, one of which has fewer members and one another order of members; two tags, one of which is
 * a prefix of the other. With the argument "threads" each call has its own thread, and the threads start one after the
 * other. Without an argument one thread makes all calls. This needs a component that does not let the first member wait
 * (excid with bootstrap); that member is the first in all groups, and each tag is used three times. */
#define _DEFAULT_SOURCE /* usleep */
#include "tests/mpi_check/check.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { groups = 3, tags = 2, keys = groups * tags, uses = 3 };
static const int members[groups][3] = {{0, 1, 2}, {0, 2, -1}, {0, 2, 1}};
static const int sizes[groups] = {3, 2, 3};
static const char* const texts[tags] = {"order", "order, again"};
static MPI_Group group[groups];
static int world_rank;

static MPI_Comm create(int key) {
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK(MPI_Comm_create_from_group(group[key / tags], texts[key % tags], MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) ==
        MPI_SUCCESS);
    return comm;
}

static int takes_part(int key) {
    return world_rank != 1 || sizes[key / tags] == 3;
}

/* The order of the keys: rank 0 begins with the first key, rank 1 with the last, rank 2 with the middle one. */
static int nth_key(int n) {
    return world_rank == 0 ? n : world_rank == 1 ? keys - 1 - n : (n + keys / 2) % keys;
}

static void pass_label(MPI_Comm comm, int label) {
    int rank, size, value = -1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Sendrecv(&label, 1, MPI_INT, (rank + 1) % size, 1, &value, 1, MPI_INT, (rank + size - 1) % size, 1, comm,
        MPI_STATUS_IGNORE);
    CHECK(value == label);
}

static void* create_and_use(void* key) {
    MPI_Comm comm = create(*(int*)key);
    pass_label(comm, *(int*)key);
    MPI_Comm_free(&comm);
    return NULL;
}

static void in_threads(void) {
    pthread_t threads[keys];
    int which[keys], begun = 0;
    for (int n = 0; n < keys; ++n) {
        which[begun] = nth_key(n);
        if (takes_part(which[begun])) {
            CHECK(pthread_create(&threads[begun], NULL, create_and_use, &which[begun]) == 0);
            ++begun;
            usleep(2000); /* makes the order likely that this test is for; every order is correct */
        }
    }
    while (begun > 0) {
        CHECK(pthread_join(threads[--begun], NULL) == 0);
    }
}

static void in_one_thread(void) {
    MPI_Comm comms[keys][uses];
    for (int n = 0; n < keys * uses; ++n) { /* all keys before the next use of the first one */
        const int key = nth_key(n % keys);
        if (takes_part(key)) {
            comms[key][n / keys] = create(key);
        }
    }
    for (int key = 0; key < keys; ++key) {
        for (int use = 0; use < uses && takes_part(key); ++use) {
            pass_label(comms[key][use], 10 * key + use);
            MPI_Comm_free(&comms[key][use]);
        }
    }
}

int main(int argc, char** argv) {
    const int threads = argc > 1 && strcmp(argv[1], "threads") == 0;
    MPI_Session session;
    MPI_Group world;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", threads ? "MPI_THREAD_MULTIPLE" : "MPI_THREAD_SINGLE");
    CHECK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
    MPI_Info_free(&info);
    CHECK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world) == MPI_SUCCESS);
    MPI_Group_rank(world, &world_rank);
    for (int g = 0; g < groups; ++g) {
        MPI_Group_incl(world, sizes[g], members[g], &group[g]);
    }
    for (int round = 0; round < 5; ++round) {
        if (threads) {
            in_threads();
        } else {
            in_one_thread();
        }
    }
    for (int g = 0; g < groups; ++g) {
        MPI_Group_free(&group[g]);
    }
    MPI_Group_free(&world);
    MPI_Session_finalize(&session);
    return failures();
}
