// SPDX-License-Identifier: BSD-3-Clause
// Derived types in messages: between different types of the same signature, larger than any packet, packed by hand,
// from MPI_BOTTOM, of partial receives, and of types that are freed while a message is under way.
#include "tests/mpi_check/check.h"

#include <stdlib.h>
#include <string.h>

enum { rows = 700, columns = 300, tag = 3 };

static int other;
static int sends;

/* A column-wise matrix goes out and a row-wise one comes in: a transposition. */
static void transpose(void) {
    int* matrix = malloc(sizeof(int) * rows * columns);
    MPI_Datatype column, all, rowwise;
    MPI_Type_vector(rows, 1, columns, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, sizeof(int), &all);
    MPI_Type_contiguous(rows * columns, MPI_INT, &rowwise);
    MPI_Type_commit(&all);
    MPI_Type_commit(&rowwise);
    if (sends) {
        for (int i = 0; i < rows * columns; ++i) {
            matrix[i] = i;
        }
        MPI_Send(matrix, columns, all, other, tag, MPI_COMM_WORLD);
    } else {
        MPI_Status status;
        int count;
        MPI_Recv(matrix, 1, rowwise, other, tag, MPI_COMM_WORLD, &status);
        for (int c = 0; c < columns; ++c) {
            for (int r = 0; r < rows; ++r) {
                if (matrix[c * rows + r] != r * columns + c) {
                    CHECK_EQUAL(matrix[c * rows + r], r * columns + c);
                    r = rows;
                    c = columns;
                }
            }
        }
        MPI_Get_count(&status, rowwise, &count);
        CHECK_EQUAL(count, 1);
        MPI_Get_elements(&status, rowwise, &count);
        CHECK_EQUAL(count, rows * columns);
    }
    MPI_Type_free(&column);
    MPI_Type_free(&all);
    MPI_Type_free(&rowwise);
    free(matrix);
}

static void freed_while_under_way(void) {
    enum { n = 200000 };
    double* values = calloc(2 * n, sizeof(double));
    MPI_Datatype every_other;
    MPI_Request request;
    MPI_Type_vector(n, 1, 2, MPI_DOUBLE, &every_other);
    MPI_Type_commit(&every_other);
    if (sends) {
        for (int i = 0; i < 2 * n; ++i) {
            values[i] = i;
        }
        MPI_Isend(values, 1, every_other, other, tag, MPI_COMM_WORLD, &request);
    } else {
        MPI_Irecv(values, 1, every_other, other, tag, MPI_COMM_WORLD, &request);
    }
    MPI_Type_free(&every_other);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (!sends) {
        CHECK(values[2 * n - 2] == 2 * n - 2);
        CHECK(values[2 * n - 1] == 0);
    }
    free(values);
}

static void partial(void) {
    struct {
        int a;
        double b[2];
    } in[2] = {{1, {2, 3}}, {4, {5, 6}}}, out[2];
    const int lengths[2] = {1, 2};
    const MPI_Aint places[2] = {0, 8};
    const MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE};
    MPI_Datatype type;
    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_commit(&type);
    if (sends) {
        /* One struct, then an int and a double of the next. */
        char packed[64];
        int position = 0;
        MPI_Pack(in, 1, type, packed, sizeof packed, &position, MPI_COMM_WORLD);
        MPI_Pack(&in[1].a, 1, MPI_INT, packed, sizeof packed, &position, MPI_COMM_WORLD);
        MPI_Pack(in[1].b, 1, MPI_DOUBLE, packed, sizeof packed, &position, MPI_COMM_WORLD);
        MPI_Send(packed, position, MPI_PACKED, other, tag, MPI_COMM_WORLD);
    } else {
        MPI_Status status;
        int count;
        memset(out, 0, sizeof out);
        MPI_Recv(out, 2, type, other, tag, MPI_COMM_WORLD, &status);
        MPI_Get_elements(&status, type, &count);
        CHECK_EQUAL(count, 5);
        MPI_Get_count(&status, type, &count);
        CHECK_EQUAL(count, MPI_UNDEFINED);
        CHECK(out[0].b[1] == 3 && out[1].a == 4 && out[1].b[0] == 5 && out[1].b[1] == 0);
    }
    MPI_Type_free(&type);
}

static void from_bottom(void) {
    int a = sends ? 7 : 0;
    double b[2] = {sends ? 1.5 : 0, sends ? 2.5 : 0};
    const int lengths[2] = {2, 1};
    MPI_Aint places[2];
    MPI_Get_address(b, &places[0]);
    MPI_Get_address(&a, &places[1]);
    const MPI_Datatype types[2] = {MPI_DOUBLE, MPI_INT};
    MPI_Datatype type;
    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_commit(&type);
    if (sends) {
        MPI_Send(MPI_BOTTOM, 1, type, other, tag, MPI_COMM_WORLD);
    } else {
        MPI_Recv(MPI_BOTTOM, 1, type, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(a == 7 && b[0] == 1.5 && b[1] == 2.5);
    }
    MPI_Type_free(&type);
}

int main(int argc, char** argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank < size / 2 * 2) {
        other = rank ^ 1;
        sends = rank % 2 == 0;
        transpose();
        freed_while_under_way();
        partial();
        from_bottom();
    }
    return finish();
}
