/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_create_from_group with excid and bootstrap waits for the first member alone: the last one calls it only when
   all others have their communicator, have used it, and have sent it a message there. */
#include "tests/mpi_check/check.h"

static MPI_Comm create(MPI_Group group) {
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK(
        MPI_Comm_create_from_group(group, "unsynchronised", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm) == MPI_SUCCESS);
    return comm;
}

int main(int argc, char** argv) {
    MPI_Session session;
    MPI_Group group;
    int rank, size, value = -1;
    MPI_Init(&argc, &argv);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Group_rank(group, &rank);
    MPI_Group_size(group, &size);
    const int last = size - 1;
    for (int round = 0; round < 50; round++) {
        if (rank == last) {
            for (int i = 0; i < last; i++) {
                MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            }
        }
        MPI_Comm comm = create(group);
        if (rank == last) {
            for (int i = 0; i < last; i++) {
                MPI_Recv(&value, 1, MPI_INT, i, 2, comm, MPI_STATUS_IGNORE);
                CHECK(value == 1000 * round + i);
            }
        } else {
            const int mine = 1000 * round + rank, from = (rank + last - 1) % last;
            MPI_Sendrecv(&mine, 1, MPI_INT, (rank + 1) % last, 1, &value, 1, MPI_INT, from, 1, comm, MPI_STATUS_IGNORE);
            CHECK(value == 1000 * round + from);
            MPI_Send(&mine, 1, MPI_INT, last, 2, comm);
            MPI_Send(NULL, 0, MPI_INT, last, round, MPI_COMM_WORLD);
        }
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    MPI_Finalize();
    return failures();
}
