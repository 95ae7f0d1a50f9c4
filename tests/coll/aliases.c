/* SPDX-License-Identifier: BSD-3-Clause */
/* Send and receive buffers of collectives that share memory are MPI_ERR_BUFFER, before anything is sent: a process that
 * was refused calls again, and the others, which wait meanwhile, go on. */
#include "tests/mpi_check/check.h"

#include <stdlib.h>

static int rank, size;
static MPI_Comm comm;
static int *one, *other, *counts, *places, *byte_places;
static MPI_Datatype* types;

static void fill(void) {
    for (int i = 0; i < 2 * size; ++i) {
        one[i] = rank + 1;
        other[i] = -1;
    }
}

/* The call is refused in all processes. */
static void test_everywhere(void) {
    CHECK(MPI_Allgather(one, 1, MPI_INT, one, 1, MPI_INT, comm) == MPI_ERR_BUFFER);
    CHECK(MPI_Allgather(one + rank, 1, MPI_INT, one, 1, MPI_INT, comm) == MPI_ERR_BUFFER);
    CHECK(MPI_Allgatherv(one + 2 * rank, 2, MPI_INT, one, counts, places, MPI_INT, comm) == MPI_ERR_BUFFER);
    CHECK(MPI_Alltoall(one, 2, MPI_INT, one, 2, MPI_INT, comm) == MPI_ERR_BUFFER);
    CHECK(MPI_Alltoallv(one, counts, places, MPI_INT, one, counts, places, MPI_INT, comm) == MPI_ERR_BUFFER);
    CHECK(MPI_Alltoallw(one, counts, byte_places, types, one, counts, byte_places, types, comm) == MPI_ERR_BUFFER);
    CHECK(MPI_Allreduce(one, one, 2, MPI_INT, MPI_SUM, comm) == MPI_ERR_BUFFER);
    CHECK(MPI_Reduce_scatter(one, one, counts, MPI_INT, MPI_SUM, comm) == MPI_ERR_BUFFER);
    CHECK(MPI_Reduce_scatter_block(one, one, 2, MPI_INT, MPI_SUM, comm) == MPI_ERR_BUFFER);
    CHECK(MPI_Scan(one, one, 2, MPI_INT, MPI_SUM, comm) == MPI_ERR_BUFFER);
    CHECK(MPI_Exscan(one, one, 2, MPI_INT, MPI_SUM, comm) == MPI_ERR_BUFFER);
    CHECK(MPI_Reduce_local(one, one, 2, MPI_INT, MPI_SUM) == MPI_ERR_BUFFER);
    CHECK(MPI_Reduce_local(one, other, 2, MPI_INT, MPI_SUM) == MPI_SUCCESS);
}

/* Of rooted collectives the arguments of the root alone count: the others wait until it calls again. */
static void test_at_root(int root) {
    const int mine = rank == root;
    fill();
    if (mine) {
        CHECK(MPI_Gather(one, 1, MPI_INT, one, 1, MPI_INT, root, comm) == MPI_ERR_BUFFER);
        CHECK(MPI_Gather(one + 2 * rank, 2, MPI_INT, one, 2, MPI_INT, root, comm) == MPI_ERR_BUFFER);
    }
    CHECK(MPI_Gather(one, 1, MPI_INT, mine ? other : one, 1, MPI_INT, root, comm) == MPI_SUCCESS);
    CHECK(!mine || (other[0] == 1 && other[size - 1] == size && other[size] == -1));
    if (mine) {
        CHECK(MPI_Gatherv(one + 2 * rank, 2, MPI_INT, one, counts, places, MPI_INT, root, comm) == MPI_ERR_BUFFER);
    }
    CHECK(MPI_Gatherv(one, 2, MPI_INT, mine ? other : one, counts, places, MPI_INT, root, comm) == MPI_SUCCESS);
    CHECK(!mine || other[2 * size - 1] == size);
    fill();
    if (mine) {
        CHECK(MPI_Scatter(one, 1, MPI_INT, one, 1, MPI_INT, root, comm) == MPI_ERR_BUFFER);
        CHECK(MPI_Scatter(one, 1, MPI_INT, one + rank, 1, MPI_INT, root, comm) == MPI_ERR_BUFFER);
    }
    CHECK(MPI_Scatter(one, 1, MPI_INT, other, 1, MPI_INT, root, comm) == MPI_SUCCESS && other[0] == root + 1);
    if (mine) {
        CHECK(MPI_Scatterv(one, counts, places, MPI_INT, one + 2 * rank, 2, MPI_INT, root, comm) == MPI_ERR_BUFFER);
    }
    CHECK(MPI_Scatterv(one, counts, places, MPI_INT, other, 2, MPI_INT, root, comm) == MPI_SUCCESS &&
        other[1] == root + 1);
    if (mine) {
        CHECK(MPI_Reduce(one, one, 1, MPI_INT, MPI_SUM, root, comm) == MPI_ERR_BUFFER);
    }
    CHECK(MPI_Reduce(one, mine ? other : one, 1, MPI_INT, MPI_SUM, root, comm) == MPI_SUCCESS);
    CHECK(!mine || other[0] == size * (size + 1) / 2);
}

/* Similar calls that are legal: MPI_IN_PLACE, nothing to move, and data between other data. */
static void test_legal(void) {
    struct pair {
        int sent, received;
    }* pairs = malloc((size_t)size * sizeof *pairs);
    MPI_Datatype first, field, second;
    const int four = sizeof(int);
    fill();
    CHECK(MPI_Reduce(rank == 0 ? MPI_IN_PLACE : one, one, 1, MPI_INT, MPI_SUM, 0, comm) == MPI_SUCCESS);
    CHECK(MPI_Gather(rank == 0 ? MPI_IN_PLACE : one, 1, MPI_INT, one, 1, MPI_INT, 0, comm) == MPI_SUCCESS);
    CHECK(MPI_Allgather(one, 0, MPI_INT, one, 0, MPI_INT, comm) == MPI_SUCCESS);
    CHECK(MPI_Alltoall(one, 0, MPI_INT, one, 0, MPI_INT, comm) == MPI_SUCCESS);
    CHECK(MPI_Allreduce(one, one, 0, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
    CHECK(MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);

    MPI_Type_create_resized(MPI_INT, 0, sizeof *pairs, &first);
    MPI_Type_create_indexed_block(1, 1, &(int){1}, MPI_INT, &field);
    MPI_Type_create_resized(field, 0, sizeof *pairs, &second);
    MPI_Type_commit(&first);
    MPI_Type_commit(&second);
    for (int i = 0; i < size; ++i) {
        pairs[i].sent = rank * 100 + i;
        pairs[i].received = -1;
    }
    CHECK(MPI_Alltoall(pairs, 1, first, pairs, 1, second, comm) == MPI_SUCCESS);
    for (int i = 0; i < size; ++i) {
        CHECK(pairs[i].received == i * 100 + rank && pairs[i].sent == rank * 100 + i);
    }
    CHECK(MPI_Alltoall((char*)pairs + four, 1, first, pairs, 1, second, comm) == MPI_ERR_BUFFER);
    MPI_Type_free(&first);
    MPI_Type_free(&field);
    MPI_Type_free(&second);
    free(pairs);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* of MPI_Reduce_local */
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    one = malloc(2 * (size_t)size * sizeof *one);
    other = malloc(2 * (size_t)size * sizeof *other);
    counts = malloc((size_t)size * sizeof *counts);
    places = malloc((size_t)size * sizeof *places);
    byte_places = malloc((size_t)size * sizeof *byte_places);
    types = malloc((size_t)size * sizeof(MPI_Datatype));
    for (int i = 0; i < size; ++i) {
        counts[i] = 2;
        places[i] = 2 * i;
        byte_places[i] = 2 * i * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    fill();
    test_everywhere();
    test_at_root(0);
    test_at_root(size - 1);
    test_legal();
    free(one), free(other), free(counts), free(places), free(byte_places), free(types);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return failures();
}
