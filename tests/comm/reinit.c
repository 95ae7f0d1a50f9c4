/* SPDX-License-Identifier: BSD-3-Clause */
/* The library is finalized with the last session and initialized again with the next one, at another time in each
   process: bootstrap messages go to processes whose library is down, or is in a library generation that takes part in
   no common constructor. */
#define _DEFAULT_SOURCE /* usleep */
#include "tests/mpi_check/check.h"

#include <stdlib.h>
#include <unistd.h>

static int rank, size;

static MPI_Session open_session(void) {
    MPI_Session session = MPI_SESSION_NULL;
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session) == MPI_SUCCESS);
    return session;
}

static MPI_Group world_of(MPI_Session session) {
    MPI_Group group;
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Group_rank(group, &rank);
    MPI_Group_size(group, &size);
    return group;
}

/* Library generations without a communicator, or with a communicator of this process alone, in which messages of other
   processes have time to arrive. */
static void empty_generations(int count, int own_communicator) {
    for (int i = 0; i < count; ++i) {
        MPI_Session session = open_session();
        if (own_communicator) {
            MPI_Group self;
            MPI_Comm comm;
            int flag;
            MPI_Group_from_session_pset(session, "mpi://SELF", &self);
            MPI_Comm_create_from_group(self, "own", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
            usleep(2000);
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE);
            CHECK(!flag);
            MPI_Comm_free(&comm);
            MPI_Group_free(&self);
        }
        MPI_Session_finalize(&session);
    }
}

static void create_and_use(int round) {
    MPI_Session session = open_session();
    MPI_Group all = world_of(session);
    MPI_Comm comm, child;
    int sum = 0, one = round + 1, got = -1;
    CHECK(MPI_Comm_create_from_group(all, "common", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm) == MPI_SUCCESS);
    MPI_Comm_split(comm, rank % 2, 0, &child);
    MPI_Sendrecv(&round, 1, MPI_INT, (rank + 1) % size, 3, &got, 1, MPI_INT, (rank + size - 1) % size, 3, comm,
        MPI_STATUS_IGNORE);
    CHECK(got == round);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size * (round + 1));
    MPI_Barrier(child);
    MPI_Comm_free(&child);
    MPI_Comm_free(&comm);
    MPI_Group_free(&all);
    MPI_Session_finalize(&session);
}

/* A start of the library takes ten times as long under the address sanitizer. */
#ifdef __SANITIZE_ADDRESS__
enum { rounds = 12 };
#else
enum { rounds = 40 };
#endif

int main(void) {
    MPI_Session session = open_session();
    MPI_Group all = world_of(session);
    MPI_Group_free(&all);
    MPI_Session_finalize(&session);
    srand((unsigned)rank + 1);
    for (int round = 0; round < rounds; ++round) {
        if (rand() % 3 == 0) {
            usleep((unsigned)(rand() % 4000)); /* the library is down while messages of the others arrive */
        }
        empty_generations(rand() % 4, 0);
        empty_generations(rand() % 2, 1);
        empty_generations(rand() % 3, 0);
        create_and_use(round);
    }
    return failures();
}
