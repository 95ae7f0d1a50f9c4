/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_create_from_group about several operation keys at one time, to which the members come in different orders,
 * so that messages about one arrive before those that are waited for. Topics: two groups with one member less or more,
 * and one in another order; each with two tags, one of which is the other's beginning. Argument "threads": a call in
 * each thread, begun one after the other. Without: one thread, for a component that lets the first member go ahead
 * (excid with bootstrap); it leads all groups, and each tag is used three times. */
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

/* Rank 0 begins with the first, rank 1 with the last, rank 2 in the middle. */
static int nth_key(int n) {
    return world_rank == 0 ? n : world_rank == 1 ? keys - 1 - n : (n + keys / 2) % keys;
}

static void tell(MPI_Comm comm, int label) {
    int rank, size, value = -1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Sendrecv(&label, 1, MPI_INT, (rank + 1) % size, 1, &value, 1, MPI_INT, (rank + size - 1) % size, 1, comm,
        MPI_STATUS_IGNORE);
    CHECK(value == label);
}

static void* meet(void* key) {
    MPI_Comm comm = create(*(int*)key);
    tell(comm, *(int*)key);
    MPI_Comm_free(&comm);
    return NULL;
}

static void in_threads(void) {
    pthread_t threads[keys];
    int which[keys], begun = 0;
    for (int n = 0; n < keys; ++n) {
        which[begun] = nth_key(n);
        if (takes_part(which[begun])) {
            CHECK(pthread_create(&threads[begun], NULL, meet, &which[begun]) == 0);
            ++begun;
            usleep(2000); /* the others come the other way; right in any order */
        }
    }
    while (begun > 0) {
        CHECK(pthread_join(threads[--begun], NULL) == 0);
    }
}

static void in_one_thread(void) {
    MPI_Comm comms[keys][uses];
    for (int n = 0; n < keys * uses; ++n) { /* the same key's uses in order, but far from each other */
        const int key = nth_key(n % keys);
        if (takes_part(key)) {
            comms[key][n / keys] = create(key);
        }
    }
    for (int key = 0; key < keys; ++key) {
        for (int use = 0; use < uses && takes_part(key); ++use) {
            tell(comms[key][use], 10 * key + use);
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
