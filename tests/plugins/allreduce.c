/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Allreduce in its three forms, with short and long messages, in place and not, and with an operation that does not
   commute. Each element is an affine function, and the operation is their composition. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct affine {
    unsigned factor, summand;
};

static struct affine composed(struct affine first, struct affine second) {
    const struct affine both = {first.factor * second.factor, first.summand * second.factor + second.summand};
    return both;
}

static void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *count; ++i) {
        ((struct affine*)inout)[i] = composed(((struct affine*)in)[i], ((struct affine*)inout)[i]);
    }
}

static struct affine value(int rank, int start, int i) {
    const struct affine one = {3u + 2u * (unsigned)(rank + start), 7u * (unsigned)i + (unsigned)rank + 1u};
    return one;
}

static int rank, size;

static void fill(struct affine* data, int count, int start) {
    for (int i = 0; i < count; ++i) {
        data[i] = value(rank, start, i);
    }
}

static int wrong(const struct affine* result, int count, int start) {
    int bad = 0;
    for (int i = 0; i < count; ++i) {
        struct affine all = value(0, start, i);
        for (int other = 1; other < size; ++other) {
            all = composed(all, value(other, start, i));
        }
        bad += result[i].factor != all.factor || result[i].summand != all.summand;
    }
    return bad;
}

static int check(int count, int in_place, MPI_Datatype type, MPI_Op op) {
    struct affine* mine = malloc(((size_t)count + 1) * sizeof *mine);
    struct affine* result = malloc(((size_t)count + 1) * sizeof *result);
    struct affine* filled = in_place ? result : mine;
    const void* send = in_place ? MPI_IN_PLACE : mine;
    MPI_Request request;
    int bad = 0;
    fill(filled, count, 0);
    MPI_Allreduce(send, result, count, type, op, MPI_COMM_WORLD);
    bad += wrong(result, count, 0);
    fill(filled, count, 1);
    MPI_Iallreduce(send, result, count, type, op, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    bad += wrong(result, count, 1);
    MPI_Allreduce_init(send, result, count, type, op, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int start = 2; start < 5; ++start) {
        fill(filled, count, start);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        bad += wrong(result, count, start);
    }
    MPI_Request_free(&request);
    free(mine);
    free(result);
    return bad;
}

int main(int argc, char** argv) {
    static const int counts[] = {0, 1, 1000, 100001};
    MPI_Datatype type;
    MPI_Op op;
    int bad = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_contiguous(2, MPI_UNSIGNED, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(compose, 0, &op);
    for (int i = 0; i < 8; ++i) {
        bad += check(counts[i / 2], i % 2, type, op);
    }
    MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d wrong elements\n", bad);
    }
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    MPI_Finalize();
    return bad != 0;
}
