/* SPDX-License-Identifier: BSD-3-Clause */
/* sessions RANKS: no MPI_Init; communicators from process sets, traffic on them and on what is derived from them, and
   the end of it; then once more. */
#include "tests/mpi_check/check.h"

#include <stdlib.h>

static void check_traffic(MPI_Comm comm, int label) {
    int rank, size, got = -1, sum = -1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int tag = 0; tag < 10; ++tag) {
        MPI_Sendrecv(&label, 1, MPI_INT, (rank + 1) % size, tag, &got, 1, MPI_INT, (rank + size - 1) % size, tag, comm,
            MPI_STATUS_IGNORE);
        CHECK(got == label);
    }
    MPI_Allreduce(&label, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size * label);
}

static MPI_Comm from_pset(MPI_Session session, const char* pset, int size) {
    MPI_Group group;
    MPI_Comm comm = MPI_COMM_NULL;
    int members = -1;
    CHECK(MPI_Group_from_session_pset(session, pset, &group) == MPI_SUCCESS);
    MPI_Group_size(group, &members);
    if (members != size) {
        fprintf(stderr, "sessions: %d processes in %s, wanted %d\n", members, pset, size);
        exit(3); /* no process waits for another one yet */
    }
    CHECK(MPI_Comm_create_from_group(group, "of a test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm) == MPI_SUCCESS);
    MPI_Group_free(&group);
    return comm;
}

static void run_generation(int size, int label) {
    MPI_Session session;
    int rank;
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session) == MPI_SUCCESS);
    MPI_Comm world = from_pset(session, "mpi://WORLD", size), self = from_pset(session, "mpi://SELF", 1);
    MPI_Comm dup, half, group_comm, children[3];
    MPI_Group group;
    MPI_Comm_rank(world, &rank);
    check_traffic(world, label);
    check_traffic(self, label + 1);
    MPI_Comm_dup(world, &dup);
    MPI_Comm_split(dup, rank % 2, 0, &half);
    MPI_Comm_group(half, &group);
    MPI_Comm_create_group(world, group, 7, &group_comm);
    for (int i = 0; i < 3; ++i) {
        MPI_Comm_dup(i == 0 ? half : children[i - 1], &children[i]);
        check_traffic(children[i], label + 10 + i);
    }
    check_traffic(dup, label + 2);
    check_traffic(half, label + 3);
    check_traffic(group_comm, label + 4);
    for (int i = 0; i < 3; ++i) {
        MPI_Comm_free(&children[i]);
    }
    MPI_Group_free(&group);
    MPI_Comm_free(&group_comm);
    MPI_Comm_free(&half);
    MPI_Comm_free(&dup);
    MPI_Comm_free(&self);
    MPI_Comm_disconnect(&world);
    CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
}

int main(int argc, char** argv) {
    const int size = argc == 2 ? atoi(argv[1]) : 0;
    run_generation(size, 100);
    run_generation(size, 200);
    return failures();
}
