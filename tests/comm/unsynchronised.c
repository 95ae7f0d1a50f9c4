/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_create_from_group with excid does not wait for members that call it later; with source bootstrap it waits
   for the first member only. The argument:
     last    the last member calls it only after all others have their communicator, have used it, and have sent the
             last member a message on it
     first   the same with the first member, for which no other member waits with source auto
     ahead   the first member calls it 300 ms later than the others, which make many communicators; the others get
             ahead of the first member as far as there is memory for that, and then wait */
#define _POSIX_C_SOURCE 199309L /* nanosleep */
#include "tests/mpi_check/check.h"

#include <string.h>
#include <time.h>

static int rank, size;

static MPI_Comm create(MPI_Group group) {
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK(
        MPI_Comm_create_from_group(group, "unsynchronised", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm) == MPI_SUCCESS);
    return comm;
}

static void one_is_late(MPI_Group group, int late) {
    const int others = size - 1, shift = late == 0 ? 1 : 0; /* ranks shift .. shift + others - 1 */
    int value = -1;
    for (int round = 0; round < 50; round++) {
        if (rank == late) {
            for (int i = 0; i < others; i++) {
                MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            }
        }
        MPI_Comm comm = create(group);
        if (rank == late) {
            for (int i = 0; i < others; i++) {
                MPI_Recv(&value, 1, MPI_INT, i + shift, 2, comm, MPI_STATUS_IGNORE);
                CHECK(value == 1000 * round + i + shift);
            }
        } else {
            const int place = rank - shift, mine = 1000 * round + rank;
            const int to = (place + 1) % others + shift, from = (place + others - 1) % others + shift;
            MPI_Sendrecv(&mine, 1, MPI_INT, to, 1, &value, 1, MPI_INT, from, 1, comm, MPI_STATUS_IGNORE);
            CHECK(value == 1000 * round + from);
            MPI_Send(&mine, 1, MPI_INT, late, 2, comm);
            MPI_Send(NULL, 0, MPI_INT, late, round, MPI_COMM_WORLD);
        }
        MPI_Comm_free(&comm);
    }
}

static void get_ahead(MPI_Group group) {
    enum { count = 400 };
    const struct timespec while_others_create = {0, 300 * 1000 * 1000};
    MPI_Comm made[count];
    if (rank == 0) {
        nanosleep(&while_others_create, NULL);
    }
    for (int i = 0; i < count; i++) {
        made[i] = create(group);
    }
    for (int i = 0; i < count; i++) {
        int sum = 0;
        MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, made[i]);
        CHECK(sum == size * i);
        MPI_Comm_free(&made[i]);
    }
}

int main(int argc, char** argv) {
    MPI_Session session;
    MPI_Group group;
    MPI_Init(&argc, &argv);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Group_rank(group, &rank);
    MPI_Group_size(group, &size);
    const char* what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "ahead") == 0) {
        get_ahead(group);
    } else {
        CHECK(strcmp(what, "first") == 0 || strcmp(what, "last") == 0);
        one_is_late(group, strcmp(what, "first") == 0 ? 0 : size - 1);
    }
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    MPI_Finalize();
    return failures();
}
