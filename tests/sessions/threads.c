/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions in several threads at once. The argument names the test. */
#include "tests/sessions/session_check.h"

#include <pthread.h>
#include <stdlib.h>

enum { threads = 4 };

struct task {
    int number;
    const char* level;
    int rounds;
};

static MPI_Comm comm_of(MPI_Session session, const char* pset, const char* tag) {
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK(MPI_Group_from_session_pset(session, pset, &group) == MPI_SUCCESS);
    CHECK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS);
    MPI_Group_free(&group);
    return comm;
}

static void exchange(MPI_Comm comm, int rounds) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int round = 0; round < rounds; ++round) {
        int sum = 0, from = -1;
        CHECK(MPI_Sendrecv(&round, 1, MPI_INT, (rank + 1) % size, 5, &from, 1, MPI_INT, (rank + size - 1) % size, 5,
                  comm, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(from == round);
        CHECK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS && sum == size * (size - 1) / 2);
    }
}

/* The first session of any thread initializes the library, the last one finalizes it. */
static void* open_and_close(void* argument) {
    const struct task* task = argument;
    for (int round = 0; round < task->rounds; ++round) {
        MPI_Session session = open_session(task->level);
        MPI_Group world, self;
        int result = 0, number = 0;
        CHECK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &number) == MPI_SUCCESS && number >= 3);
        CHECK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world) == MPI_SUCCESS);
        CHECK(MPI_Group_from_session_pset(session, "mpi://SELF", &self) == MPI_SUCCESS);
        CHECK(MPI_Group_compare(world, self, &result) == MPI_SUCCESS);
        MPI_Group_free(&world);
        MPI_Group_free(&self);
        CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS && session == MPI_SESSION_NULL);
    }
    return NULL;
}

/* Each thread communicates in a session of its own, at any thread level: sessions are isolated. */
static void* communicate(void* argument) {
    const struct task* task = argument;
    char tag[64];
    snprintf(tag, sizeof tag, "tests://sessions/thread/%d", task->number);
    for (int round = 0; round < 3; ++round) {
        MPI_Session session = open_session(task->level);
        MPI_Comm comm = comm_of(session, "mpi://WORLD", tag), mine = comm_of(session, "mpi://SELF", "tests://own");
        exchange(comm, task->rounds);
        exchange(mine, task->rounds);
        MPI_Comm_free(&comm);
        MPI_Comm_free(&mine);
        CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
    }
    return NULL;
}

static void run(void* (*act)(void*), const char* const* levels, int rounds) {
    pthread_t all[threads];
    struct task tasks[threads];
    for (int i = 0; i < threads; ++i) {
        tasks[i] = (struct task){i, levels[i % 4], rounds};
        pthread_create(&all[i], NULL, act, &tasks[i]);
    }
    for (int i = 0; i < threads; ++i) {
        pthread_join(all[i], NULL);
    }
}

static const char* const any_level[] = {
    "MPI_THREAD_MULTIPLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SINGLE", "MPI_THREAD_SERIALIZED"};
static const char* const lowest[] = {
    "MPI_THREAD_SINGLE", "MPI_THREAD_SINGLE", "MPI_THREAD_SINGLE", "MPI_THREAD_SINGLE"};

/* The main thread communicates all the time in a session that was opened for one thread. Other threads open sessions,
   the first one at `level`. */
static void raise_beside(MPI_Comm comm, const char* level) {
    pthread_t thread;
    struct task task = {0, level, 50};
    exchange(comm, 100);
    pthread_create(&thread, NULL, communicate, &task);
    exchange(comm, 1000);
    pthread_join(thread, NULL);
    run(communicate, any_level, 20);
    exchange(comm, 100);
}

/* One communicator for each thread in one session at MPI_THREAD_MULTIPLE, opened after one at MPI_THREAD_SINGLE. */
static MPI_Session shared;
static void* communicate_in_shared(void* argument) {
    const struct task* task = argument;
    char tag[64];
    snprintf(tag, sizeof tag, "tests://sessions/shared/%d", task->number);
    MPI_Comm comm = comm_of(shared, "mpi://WORLD", tag);
    exchange(comm, task->rounds);
    MPI_Comm_free(&comm);
    return NULL;
}

static void* init_the_world(void* unused) {
    MPI_Init(NULL, NULL);
    exchange(MPI_COMM_WORLD, 100);
    MPI_Finalize();
    return unused;
}

static void* finalize(void* session) {
    CHECK(MPI_Session_finalize(session) == MPI_SUCCESS);
    return NULL;
}

/* The main thread has two sessions. Another thread finalizes the second one, with its communicators, while the main
   thread uses and makes communicators of the first one. */
static void finalize_beside(void) {
    enum { many = 8 };
    pthread_t thread;
    MPI_Session session = open_session("MPI_THREAD_FUNNELED"), other = open_session("MPI_THREAD_FUNNELED");
    MPI_Comm comm = comm_of(session, "mpi://WORLD", "tests://one"), left = comm_of(other, "mpi://WORLD", "tests://two");
    exchange(left, 5);
    for (int i = 0; i < many; ++i) {
        MPI_Comm copy;
        MPI_Comm_dup(left, &copy);
    }
    pthread_create(&thread, NULL, finalize, &other);
    for (int i = 0; i < many; ++i) {
        MPI_Comm copy;
        CHECK(MPI_Comm_dup(comm, &copy) == MPI_SUCCESS);
        exchange(copy, 5);
        MPI_Comm_free(&copy);
    }
    pthread_join(thread, NULL);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
}

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "open") == 0) {
        run(open_and_close, any_level, 100);
    } else if (strcmp(what, "communicate") == 0) {
        MPI_Session first = open_session("MPI_THREAD_SINGLE"); /* opened before all threads */
        run(communicate, any_level, 50);
        run(communicate, lowest, 50);
        MPI_Session_finalize(&first);
    } else if (strcmp(what, "reinit") == 0) {
        run(communicate, lowest, 20); /* the library may be finalized between any two sessions */
    } else if (strcmp(what, "raise_world") == 0) {
        MPI_Init(&argc, &argv);
        raise_beside(MPI_COMM_WORLD, "MPI_THREAD_MULTIPLE");
        MPI_Finalize();
    } else if (strcmp(what, "raise_both") == 0) {
        MPI_Init(&argc, &argv);
        MPI_Session session = open_session("MPI_THREAD_FUNNELED");
        MPI_Comm comm = comm_of(session, "mpi://WORLD", "tests://raise");
        exchange(MPI_COMM_WORLD, 10);
        raise_beside(comm, "MPI_THREAD_FUNNELED");
        exchange(MPI_COMM_WORLD, 10);
        MPI_Comm_free(&comm);
        MPI_Session_finalize(&session);
        MPI_Finalize();
    } else if (strcmp(what, "finalize") == 0) {
        for (int round = 0; round < 30; ++round) {
            finalize_beside();
        }
    } else if (strcmp(what, "raise_session") == 0) {
        MPI_Session session = open_session("MPI_THREAD_SINGLE");
        MPI_Comm comm = comm_of(session, "mpi://WORLD", "tests://raise");
        raise_beside(comm, "MPI_THREAD_MULTIPLE");
        shared = open_session("MPI_THREAD_MULTIPLE");
        run(communicate_in_shared, any_level, 50);
        exchange(comm, 10);
        MPI_Session_finalize(&shared);
        MPI_Comm_free(&comm);
        MPI_Session_finalize(&session);
    } else if (strcmp(what, "compartments") == 0) {
        pthread_t world;
        pthread_create(&world, NULL, init_the_world, NULL);
        run(communicate, any_level, 50);
        pthread_join(world, NULL);
        run(communicate, any_level, 20); /* after MPI_Finalize */
    } else {
        check_failed(__FILE__, __LINE__, "the argument names a test");
    }
    return failures();
}
