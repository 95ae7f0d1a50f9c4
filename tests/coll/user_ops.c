/* SPDX-License-Identifier: BSD-3-Clause */
/* Ops of the program that do what the standard lets them do: count their length argument down, and read and write whole
 * structures of which the datatype has some members only, with unused bytes before or behind these. */
#include "tests/mpi_check/check.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static void add_counting_down(void* in, void* inout, int* length, MPI_Datatype* type) {
    (void)type;
    int *a = in, *b = inout;
    while ((*length)-- > 0) {
        *b++ += *a++;
    }
}

static void check_counting_down(void) {
    enum { count = 5 };
    int values[count], sums[count];
    MPI_Op op;
    MPI_Op_create(add_counting_down, 1, &op);
    for (int i = 0; i < count; ++i) {
        values[i] = rank + i;
    }
    CHECK_OK(MPI_Allreduce(values, sums, count, MPI_INT, op, MPI_COMM_WORLD));
    for (int i = 0; i < count; ++i) {
        CHECK_EQUAL(sums[i], size * (size - 1) / 2 + size * i);
    }
    CHECK_OK(MPI_Reduce_local(values, sums, count, MPI_INT, op));
    CHECK_EQUAL(sums[0], size * (size - 1) / 2 + rank);
    MPI_Op_free(&op);
}

struct behind {
    double value;
    int rank;
    char unused[36];
};

struct before {
    char unused[32];
    double value;
    int rank;
    int more;
};

static void largest_behind(void* in, void* inout, int* length, MPI_Datatype* type) {
    (void)type;
    struct behind *a = in, *b = inout;
    for (int i = 0; i < *length; ++i) {
        if (a[i].value > b[i].value) {
            b[i] = a[i];
        }
    }
}

static void largest_before(void* in, void* inout, int* length, MPI_Datatype* type) {
    (void)type;
    struct before *a = in, *b = inout;
    for (int i = 0; i < *length; ++i) {
        if (a[i].value > b[i].value) {
            b[i] = a[i];
        }
    }
}

static MPI_Datatype structure(MPI_Aint value_at, MPI_Aint rank_at, MPI_Aint extent) {
    int lengths[2] = {1, 1};
    MPI_Aint places[2] = {value_at, rank_at};
    MPI_Datatype types[2] = {MPI_DOUBLE, MPI_INT}, members, whole;
    MPI_Type_create_struct(2, lengths, places, types, &members);
    MPI_Type_create_resized(members, 0, extent, &whole);
    MPI_Type_commit(&whole);
    MPI_Type_free(&members);
    return whole;
}

static double value_of(int of_rank, int i) {
    return (of_rank * 7 + i * 3) % 11;
}

/* `value_at`: where the values are in elements of `extent` bytes. */
static void check_structures(MPI_Datatype type, MPI_Op op, size_t value_at, size_t extent, int count) {
    char* in = calloc((size_t)count, extent);
    char* out = calloc((size_t)count, extent);
    MPI_Request request;
    for (int i = 0; i < count; ++i) {
        const double value = value_of(rank, i);
        memcpy(in + (size_t)i * extent + value_at, &value, sizeof value);
    }
    for (int form = 0; form < 4; ++form) {
        if (form == 0) {
            CHECK_OK(MPI_Allreduce(in, out, count, type, op, MPI_COMM_WORLD));
        } else if (form == 1) {
            CHECK_OK(MPI_Iallreduce(in, out, count, type, op, MPI_COMM_WORLD, &request));
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        } else if (form == 2) {
            CHECK_OK(MPI_Scan(in, out, count, type, op, MPI_COMM_WORLD));
        } else {
            CHECK_OK(MPI_Reduce(in, out, count, type, op, size - 1, MPI_COMM_WORLD));
        }
        const int members = form == 2 ? rank + 1 : size;
        for (int i = 0; i < count && (form != 3 || rank == size - 1); ++i) {
            double wanted = 0, value;
            for (int other = 0; other < members; ++other) {
                wanted = value_of(other, i) > wanted ? value_of(other, i) : wanted;
            }
            memcpy(&value, out + (size_t)i * extent + value_at, sizeof value);
            CHECK_EQUAL(value, wanted);
        }
    }
    free(in);
    free(out);
}

int main(int argc, char** argv) {
    static const int counts[] = {1, 10, 11, 85, 86, 171, 342, 683, 1366};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_counting_down();
    MPI_Datatype behind =
        structure(offsetof(struct behind, value), offsetof(struct behind, rank), sizeof(struct behind));
    MPI_Datatype before =
        structure(offsetof(struct before, value), offsetof(struct before, rank), sizeof(struct before));
    for (int commutes = 0; commutes < 2; ++commutes) {
        MPI_Op of_behind, of_before;
        MPI_Op_create(largest_behind, commutes, &of_behind);
        MPI_Op_create(largest_before, commutes, &of_before);
        for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
            check_structures(behind, of_behind, offsetof(struct behind, value), sizeof(struct behind), counts[i]);
            check_structures(before, of_before, offsetof(struct before, value), sizeof(struct before), counts[i]);
        }
        MPI_Op_free(&of_behind);
        MPI_Op_free(&of_before);
    }
    MPI_Type_free(&behind);
    MPI_Type_free(&before);
    return finish();
}
