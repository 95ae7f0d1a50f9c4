// SPDX-License-Identifier: BSD-3-Clause
// Names, attributes, counting, packing, local reduction; results too large for an int; wrong arguments.
#include "tests/mpi_check/check.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

static void names(void) {
    char name[MPI_MAX_OBJECT_NAME];
    int length = -1;
    CHECK_OK(MPI_Type_get_name(MPI_DOUBLE_INT, name, &length));
    CHECK(strcmp(name, "MPI_DOUBLE_INT") == 0);
    CHECK_EQUAL(length, strlen("MPI_DOUBLE_INT"));
    CHECK_OK(MPI_Type_get_name(MPI_DATATYPE_NULL, name, &length));
    CHECK(strcmp(name, "MPI_DATATYPE_NULL") == 0);
    MPI_Datatype type;
    MPI_Type_contiguous(2, MPI_INT, &type);
    CHECK_OK(MPI_Type_get_name(type, name, &length));
    CHECK_EQUAL(length, 0);
    char longer[2 * MPI_MAX_OBJECT_NAME];
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = 0;
    CHECK_OK(MPI_Type_set_name(type, longer));
    CHECK_OK(MPI_Type_get_name(type, name, &length));
    CHECK_EQUAL(length, MPI_MAX_OBJECT_NAME - 1);
    CHECK_EQUAL(strlen(name), MPI_MAX_OBJECT_NAME - 1);
    MPI_Type_free(&type);
}

static int deleted = 0;

static int count_deletion(MPI_Datatype type, int keyval, void* value, void* extra) {
    (void)type, (void)keyval, (void)extra;
    deleted += *(int*)value;
    return MPI_SUCCESS;
}

static int refuse_deletion(MPI_Datatype type, int keyval, void* value, void* extra) {
    (void)type, (void)keyval, (void)value;
    return *(int*)extra ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int refuse_copy(MPI_Datatype type, int keyval, void* extra, void* value, void* copied, int* flag) {
    (void)type, (void)keyval, (void)extra, (void)value, (void)copied, (void)flag;
    return MPI_ERR_OTHER;
}

static void attributes(void) {
    int key, value = 5, flag = 0, *got = NULL;
    CHECK_OK(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, count_deletion, &key, NULL));
    MPI_Datatype type, copy;
    MPI_Type_contiguous(2, MPI_INT, &type);
    CHECK_OK(MPI_Type_set_attr(type, key, &value));
    CHECK_OK(MPI_Type_dup(type, &copy));
    CHECK_OK(MPI_Type_get_attr(copy, key, &got, &flag));
    CHECK(flag && got == &value);
    CHECK_OK(MPI_Type_free(&copy));
    CHECK_EQUAL(deleted, 5);
    CHECK_OK(MPI_Type_delete_attr(type, key));
    CHECK_EQUAL(deleted, 10);
    CHECK_OK(MPI_Type_get_attr(type, key, &got, &flag));
    CHECK(!flag);
    CHECK_OK(MPI_Type_free_keyval(&key));
    CHECK_EQUAL(key, MPI_KEYVAL_INVALID);

    /* A callback that refuses leaves no duplicate. */
    CHECK_OK(MPI_Type_create_keyval(refuse_copy, MPI_TYPE_NULL_DELETE_FN, &key, NULL));
    CHECK_OK(MPI_Type_set_attr(type, key, &value));
    copy = MPI_INT;
    CHECK(MPI_Type_dup(type, &copy) != MPI_SUCCESS);
    CHECK(copy == MPI_DATATYPE_NULL);
    CHECK_OK(MPI_Type_delete_attr(type, key));
    CHECK_OK(MPI_Type_free_keyval(&key));

    /* A callback that refuses keeps the type. */
    int refuse = 1;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, refuse_deletion, &key, &refuse);
    MPI_Type_set_attr(type, key, &value);
    CHECK(MPI_Type_free(&type) != MPI_SUCCESS);
    CHECK(type != MPI_DATATYPE_NULL);
    refuse = 0;
    CHECK_OK(MPI_Type_free(&type));
    MPI_Type_free_keyval(&key);
}

static void counting(void) {
    MPI_Status status;
    memset(&status, 0, sizeof status);
    int count, lengths[2] = {1, 2};
    MPI_Count large;
    MPI_Aint places[2] = {0, 8};
    MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE}, type;
    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_commit(&type);
    /* Two whole structs (3 values, 20 bytes each) and an int. */
    CHECK_OK(MPI_Status_set_elements(&status, type, 7));
    CHECK_OK(MPI_Get_elements(&status, type, &count));
    CHECK_EQUAL(count, 7);
    CHECK_OK(MPI_Get_count(&status, type, &count));
    CHECK_EQUAL(count, MPI_UNDEFINED);
    CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK_EQUAL(count, 44);
    CHECK_OK(MPI_Status_set_elements(&status, type, 6));
    CHECK_OK(MPI_Get_count(&status, type, &count));
    CHECK_EQUAL(count, 2);
    CHECK_OK(MPI_Status_set_elements_c(&status, MPI_INT, (MPI_Count)1 << 40));
    CHECK_OK(MPI_Get_elements(&status, MPI_INT, &count));
    CHECK_EQUAL(count, MPI_UNDEFINED);
    CHECK_OK(MPI_Get_elements_c(&status, MPI_INT, &large));
    CHECK_EQUAL(large, (MPI_Count)1 << 40);
    CHECK_OK(MPI_Get_elements_x(&status, MPI_2INT, &large));
    CHECK_EQUAL(large, (MPI_Count)1 << 40);
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_EQUAL(count, MPI_UNDEFINED);
    MPI_Type_free(&type);
    MPI_Type_contiguous(0, MPI_INT, &type);
    MPI_Status_set_elements(&status, MPI_INT, 0);
    CHECK_OK(MPI_Get_count(&status, type, &count));
    CHECK_EQUAL(count, 0);
    CHECK_OK(MPI_Get_elements(&status, type, &count));
    CHECK_EQUAL(count, 0);
    MPI_Type_free(&type);
}

static void large_sizes(void) {
    MPI_Datatype type;
    int size;
    MPI_Count count, lb, extent;
    CHECK_OK(MPI_Type_contiguous_c((MPI_Count)1 << 33, MPI_DOUBLE, &type));
    CHECK_OK(MPI_Type_size(type, &size));
    CHECK_EQUAL(size, MPI_UNDEFINED);
    CHECK_OK(MPI_Type_size_c(type, &count));
    CHECK_EQUAL(count, (MPI_Count)1 << 36);
    CHECK_OK(MPI_Type_size_x(type, &count));
    CHECK_EQUAL(count, (MPI_Count)1 << 36);
    CHECK_OK(MPI_Type_get_extent_c(type, &lb, &extent));
    CHECK_EQUAL(extent, (MPI_Count)1 << 36);
    CHECK_OK(MPI_Type_get_true_extent_x(type, &lb, &extent));
    CHECK_EQUAL(extent, (MPI_Count)1 << 36);
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Pack_size(1, type, MPI_COMM_WORLD, &size));
    CHECK_EQUAL(size, MPI_UNDEFINED);
    CHECK_OK(MPI_Pack_size_c(2, type, MPI_COMM_WORLD, &count));
    CHECK_EQUAL(count, (MPI_Count)1 << 37);
    CHECK_OK(MPI_Pack_external_size_c("external32", 2, type, &count));
    CHECK_EQUAL(count, (MPI_Count)1 << 37);
    MPI_Type_free(&type);
    CHECK_OK(MPI_Type_size(MPI_REAL2, &size));
    CHECK_EQUAL(size, MPI_UNDEFINED);
    CHECK_CLASS(MPI_Type_contiguous_c((MPI_Count)1 << 62, MPI_DOUBLE, &type), MPI_ERR_VALUE_TOO_LARGE);
}

static MPI_Aint extent_of(MPI_Datatype* type) {
    MPI_Aint lb = -1, extent = -1;
    CHECK_OK(MPI_Type_get_extent(*type, &lb, &extent));
    CHECK_EQUAL(lb, 0);
    CHECK_OK(MPI_Type_free(type));
    return extent;
}

/* The extent is rounded up once, by the typemap, whatever the constructors were (docs/datatypes.md). */
static void padding(void) {
    struct inner {
        double number;
        char letter;
    };
    struct outer {
        struct inner inner;
        char letter;
    };
    MPI_Datatype blocks, nested, types[2] = {MPI_DOUBLE, MPI_CHAR};
    int lengths[18];
    MPI_Aint places[18];
    CHECK_OK(MPI_Type_create_hvector(3, 4, 25, MPI_INT, &blocks));
    CHECK_OK(MPI_Type_create_hvector(2, 3, 4 * 68 + 1, blocks, &nested));
    CHECK_EQUAL(extent_of(&nested), 476);
    for (int i = 0; i < 6; ++i) {
        lengths[i] = 1;
        places[i] = i / 3 * 273 + i % 3 * 68;
    }
    CHECK_OK(MPI_Type_create_hindexed(6, lengths, places, blocks, &nested));
    CHECK_EQUAL(extent_of(&nested), 476);
    for (int i = 0; i < 18; ++i) {
        lengths[i] = 4;
        places[i] = i / 9 * 273 + i / 3 % 3 * 68 + i % 3 * 25;
    }
    CHECK_OK(MPI_Type_create_hindexed(18, lengths, places, MPI_INT, &nested));
    CHECK_EQUAL(extent_of(&nested), 476);
    CHECK_EQUAL(extent_of(&blocks), 68);

    lengths[0] = lengths[1] = 1;
    places[0] = offsetof(struct inner, number);
    places[1] = offsetof(struct inner, letter);
    CHECK_OK(MPI_Type_create_struct(2, lengths, places, types, &types[0]));
    places[0] = offsetof(struct outer, inner);
    places[1] = offsetof(struct outer, letter);
    CHECK_OK(MPI_Type_create_struct(2, lengths, places, types, &nested));
    CHECK_EQUAL(extent_of(&nested), sizeof(struct outer));
    CHECK_OK(MPI_Type_contiguous(3, types[0], &nested));
    CHECK_EQUAL(extent_of(&nested), 3 * sizeof(struct inner));
    CHECK_EQUAL(extent_of(&types[0]), sizeof(struct inner));

    CHECK_OK(MPI_Type_create_resized(MPI_INT, 0, 5, &blocks)); /* such bounds are exact, and so is what contains them */
    CHECK_OK(MPI_Type_create_hvector(2, 2, 13, blocks, &nested));
    CHECK_EQUAL(extent_of(&nested), 13 + 5 + 5);
    CHECK_EQUAL(extent_of(&blocks), 5);
}

static void packing(void) {
    const int in[4] = {1, 2, 3, 4};
    const double number = 0.5;
    int out[4] = {0, 0, 0, 0}, position = 0, size;
    double other = 0;
    char buffer[64];
    MPI_Datatype even;
    MPI_Type_vector(2, 1, 2, MPI_INT, &even);
    MPI_Type_commit(&even);
    CHECK_OK(MPI_Pack_size(1, even, MPI_COMM_WORLD, &size));
    CHECK_EQUAL(size, 8);
    CHECK_OK(MPI_Pack(in, 1, even, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
    CHECK_OK(MPI_Pack(&number, 1, MPI_DOUBLE, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
    CHECK_EQUAL(position, 16);
    CHECK_CLASS(MPI_Pack(in, 4, MPI_INT, buffer, 24, &position, MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
    CHECK_EQUAL(position, 16);
    position = 0;
    CHECK_OK(MPI_Unpack(buffer, 16, &position, out, 1, even, MPI_COMM_WORLD));
    CHECK_OK(MPI_Unpack(buffer, 16, &position, &other, 1, MPI_DOUBLE, MPI_COMM_WORLD));
    CHECK_CLASS(MPI_Unpack(buffer, 16, &position, &other, 1, MPI_DOUBLE, MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
    CHECK(out[0] == 1 && out[1] == 0 && out[2] == 3 && out[3] == 0);
    CHECK(other == 0.5);

    MPI_Aint at = 0;
    CHECK_OK(MPI_Pack_external("external32", in, 1, even, buffer, 8, &at));
    CHECK_EQUAL(at, 8);
    CHECK(memcmp(buffer, "\0\0\0\1\0\0\0\3", 8) == 0);
    at = 0;
    memset(out, 0, sizeof out);
    CHECK_OK(MPI_Unpack_external("external32", buffer, 8, &at, out, 1, even));
    CHECK(out[0] == 1 && out[2] == 3);
    CHECK_CLASS(MPI_Pack_external("native", in, 1, even, buffer, 8, &at), MPI_ERR_ARG);
    MPI_Type_free(&even);
}

static void add_first(void* in, void* inout, int* length, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *length; ++i) {
        ((int*)inout)[2 * i] += ((int*)in)[2 * i];
    }
}

static void local_reduction(void) {
    int a[4] = {1, 2, 3, 4}, b[4] = {10, 20, 30, 40}, commute = -1;
    CHECK_OK(MPI_Reduce_local(a, b, 4, MPI_INT, MPI_SUM));
    CHECK_EQUAL(b[3], 44);
    CHECK_OK(MPI_Reduce_local_c(a, b, 4, MPI_INT, MPI_MIN));
    CHECK_EQUAL(b[3], 4);
    MPI_Op op;
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    CHECK_OK(MPI_Op_create(add_first, 0, &op));
    CHECK_OK(MPI_Op_commutative(op, &commute));
    CHECK_EQUAL(commute, 0);
    CHECK_OK(MPI_Reduce_local(a, b, 2, pair, op));
    CHECK(b[0] == 2 && b[1] == 2 && b[2] == 6 && b[3] == 4);
    CHECK_CLASS(MPI_Reduce_local(a, b, 2, pair, MPI_SUM), MPI_ERR_OP);
    CHECK_CLASS(MPI_Reduce_local(a, b, 2, MPI_INT, MPI_REPLACE), MPI_ERR_OP);
    CHECK_CLASS(MPI_Reduce_local(a, b, 2, MPI_INT, MPI_MAXLOC), MPI_ERR_OP);
    CHECK_OK(MPI_Op_free(&op));
    CHECK(op == MPI_OP_NULL);
    op = MPI_SUM;
    CHECK_CLASS(MPI_Op_free(&op), MPI_ERR_OP);
    MPI_Type_free(&pair);
}

static void wrong_arguments(void) {
    MPI_Datatype type = MPI_INT;
    int size, n, position = 0, ints[4] = {1, 1, 1, 1};
    char buffer[16];
    CHECK_CLASS(MPI_Type_contiguous(-1, MPI_INT, &type), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &type), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_contiguous(1, MPI_REAL2, &type), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_vector(1, -1, 1, MPI_INT, &type), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_indexed(2, NULL, ints, MPI_INT, &type), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_size(MPI_DATATYPE_NULL, &size), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_size(MPI_INT, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_free(&type), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &type), MPI_ERR_ARG);
    int sizes[1] = {4}, parts[1] = {3}, starts[1] = {2};
    CHECK_CLASS(MPI_Type_create_subarray(1, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type), MPI_ERR_ARG);
    starts[0] = 1;
    CHECK_CLASS(MPI_Type_create_subarray(1, sizes, parts, starts, 7, MPI_INT, &type), MPI_ERR_ARG);
    const int block = MPI_DISTRIBUTE_BLOCK, two = 2;
    CHECK_CLASS(MPI_Type_create_darray(3, 0, 1, sizes, &block, &two, &two, MPI_ORDER_C, MPI_INT, &type), MPI_ERR_ARG);
    const int one = 1;
    CHECK_CLASS(MPI_Type_create_darray(2, 0, 1, sizes, &block, &one, &two, MPI_ORDER_C, MPI_INT, &type), MPI_ERR_ARG);
    CHECK_OK(MPI_Type_contiguous(1, MPI_INT, &type));
    CHECK_CLASS(MPI_Pack(&n, 1, type, buffer, 16, &position, MPI_COMM_WORLD), MPI_ERR_TYPE); /* not committed */
    int values[1];
    MPI_Datatype types[1];
    CHECK_CLASS(MPI_Type_get_contents(type, 0, 0, 1, values, NULL, types), MPI_ERR_ARG);
    MPI_Type_free(&type);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    names();
    attributes();
    counting();
    large_sizes();
    padding();
    packing();
    local_reduction();
    wrong_arguments();
    return finish();
}
