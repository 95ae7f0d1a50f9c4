/* SPDX-License-Identifier: BSD-3-Clause */
/* Erroneous calls with intercommunicators are refused, and the objects still work afterwards. */
#include "tests/intercomm/sides.h"

#define REFUSED(call, wanted) CHECK(class_of(call) == (wanted))

static void test_create(int rank, int size) {
    MPI_Comm made = MPI_COMM_WORLD;
    /* Both groups are the world. */
    REFUSED(MPI_Intercomm_create(MPI_COMM_WORLD, 0, MPI_COMM_WORLD, 0, 1, &made), MPI_ERR_COMM);
    CHECK(made == MPI_COMM_NULL);
    REFUSED(MPI_Intercomm_create(MPI_COMM_WORLD, size, MPI_COMM_WORLD, 0, 1, &made), MPI_ERR_RANK);
    REFUSED(MPI_Intercomm_create(MPI_COMM_NULL, 0, MPI_COMM_WORLD, 0, 1, &made), MPI_ERR_COMM);
    /* Only the leader detects the error, and it sends the error to its group. */
    REFUSED(MPI_Intercomm_create(MPI_COMM_WORLD, 0, MPI_COMM_WORLD, size, 1, &made), MPI_ERR_RANK);
    REFUSED(
        MPI_Intercomm_create(MPI_COMM_WORLD, 0, rank == 0 ? MPI_COMM_NULL : MPI_COMM_WORLD, 0, 1, &made), MPI_ERR_COMM);
    REFUSED(MPI_Intercomm_create(MPI_COMM_WORLD, size - 1, MPI_COMM_WORLD, 0, -1, &made), MPI_ERR_TAG);
    REFUSED(MPI_Intercomm_merge(MPI_COMM_WORLD, 0, &made), MPI_ERR_COMM);
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Comm_free(&made);
}

/* Each process alone: both groups consist of this process. */
static void test_overlap(int rank) {
    MPI_Comm self, made = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_SELF, &self);
    REFUSED(MPI_Intercomm_create(self, 0, MPI_COMM_WORLD, rank, 5, &made), MPI_ERR_COMM);
    CHECK(made == MPI_COMM_NULL);
    MPI_Comm_free(&self);
}

static void test_use(struct sides* s) {
    int in[64] = {0}, out[64], counts[64] = {0}, places[64] = {0}, size;
    MPI_Comm made;
    MPI_Request request;
    MPI_Group remote;
    MPI_Comm_set_errhandler(s->inter, MPI_ERRORS_RETURN);
    REFUSED(MPI_Send(in, 1, MPI_INT, s->remote_size, 0, s->inter), MPI_ERR_RANK);
    REFUSED(MPI_Irecv(in, 1, MPI_INT, s->remote_size, 0, s->inter, &request), MPI_ERR_RANK);
    REFUSED(MPI_Scan(in, out, 1, MPI_INT, MPI_SUM, s->inter), MPI_ERR_COMM);
    REFUSED(MPI_Exscan(in, out, 1, MPI_INT, MPI_SUM, s->inter), MPI_ERR_COMM);
    REFUSED(MPI_Bcast(in, 1, MPI_INT, s->remote_size, s->inter), MPI_ERR_ROOT);
    REFUSED(MPI_Bcast(in, 1, MPI_INT, MPI_ANY_SOURCE, s->inter), MPI_ERR_ROOT);
    /* MPI_IN_PLACE is for intracommunicators. */
    REFUSED(MPI_Allreduce(MPI_IN_PLACE, out, 1, MPI_INT, MPI_SUM, s->inter), MPI_ERR_BUFFER);
    REFUSED(MPI_Allgather(MPI_IN_PLACE, 1, MPI_INT, out, 1, MPI_INT, s->inter), MPI_ERR_BUFFER);
    REFUSED(MPI_Alltoall(MPI_IN_PLACE, 1, MPI_INT, out, 1, MPI_INT, s->inter), MPI_ERR_BUFFER);
    REFUSED(
        MPI_Alltoallv(MPI_IN_PLACE, counts, places, MPI_INT, out, counts, places, MPI_INT, s->inter), MPI_ERR_BUFFER);
    REFUSED(MPI_Reduce_scatter_block(MPI_IN_PLACE, out, 1, MPI_INT, MPI_SUM, s->inter), MPI_ERR_BUFFER);
    REFUSED(MPI_Comm_create_group(s->inter, MPI_GROUP_EMPTY, 0, &made), MPI_ERR_COMM);
    /* The leaders can exchange messages, so that each gets the error of the other. */
    REFUSED(MPI_Intercomm_create(s->inter, 0, MPI_COMM_WORLD, s->side == 0 ? 1 : 0, 0, &made), MPI_ERR_COMM);
    MPI_Comm_remote_group(s->inter, &remote);
    REFUSED(MPI_Comm_create(s->inter, remote, &made), MPI_ERR_GROUP);
    MPI_Group_free(&remote);
    REFUSED(MPI_Comm_remote_size(s->local, &size), MPI_ERR_COMM);
    REFUSED(MPI_Comm_remote_group(s->local, &remote), MPI_ERR_COMM);
    REFUSED(MPI_Comm_split(s->inter, -5, 0, &made), MPI_ERR_ARG);
    use_inter(s->inter, 2);
    MPI_Barrier(s->inter);
}

int main(int argc, char** argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    test_create(rank, size);
    test_overlap(rank);
    struct sides s = make_sides(1, 0, 0);
    MPI_Comm_set_errhandler(s.local, MPI_ERRORS_RETURN);
    test_use(&s);
    free_sides(&s);
    MPI_Finalize();
    return failures();
}
