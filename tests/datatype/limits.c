/* SPDX-License-Identifier: BSD-3-Clause */
/* Types at the limits of what fits, and types that are nested deeply. */
#include "tests/mpi_check/check.h"

#include <limits.h>
#include <pthread.h>
#include <stdint.h>

static const MPI_Aint half = (MPI_Aint)1 << 62;

static void check_extent(MPI_Datatype type, MPI_Count wanted) {
    MPI_Count lower_bound, extent;
    CHECK_OK(MPI_Type_get_extent_c(type, &lower_bound, &extent));
    CHECK_EQUAL(extent, wanted);
    MPI_Type_free(&type);
}

/* What comes after the last block, or without any block, is no part of the type. */
static void check_strides(void) {
    MPI_Datatype wide, type;
    int lengths[2] = {1, 0}, places[2] = {0, INT_MAX};
    CHECK_OK(MPI_Type_create_hvector(2, 1, half, MPI_BYTE, &type));
    check_extent(type, half + 1);
    CHECK_OK(MPI_Type_create_hvector(2, 1, -half, MPI_BYTE, &type));
    check_extent(type, half + 1);
    CHECK_CLASS(MPI_Type_create_hvector(3, 1, half, MPI_BYTE, &type), MPI_ERR_VALUE_TOO_LARGE);
    CHECK_OK(MPI_Type_create_resized(MPI_BYTE, 0, (MPI_Aint)1 << 40, &wide));
    CHECK_OK(MPI_Type_vector(1, 1, INT_MAX, wide, &type));
    check_extent(type, (MPI_Count)1 << 40);
    CHECK_OK(MPI_Type_vector(0, 1, INT_MAX, wide, &type));
    check_extent(type, 0);
    CHECK_OK(MPI_Type_vector(3, 0, INT_MAX, wide, &type));
    check_extent(type, 0);
    CHECK_OK(MPI_Type_indexed(2, lengths, places, wide, &type));
    check_extent(type, (MPI_Count)1 << 40);
    MPI_Type_free(&wide);
    CHECK_OK(MPI_Type_contiguous(0, MPI_BYTE, &wide));
    CHECK_OK(MPI_Type_create_hvector_c((MPI_Count)1 << 40, 1, (MPI_Count)1 << 30, wide, &type));
    check_extent(type, 0);
    MPI_Type_free(&wide);
}

static void check_arrays(void) {
    MPI_Datatype type;
    const int block = MPI_DISTRIBUTE_BLOCK, by_default = MPI_DISTRIBUTE_DFLT_DARG, processes = 2;
    for (MPI_Count size = INT64_MAX - 1; size > 0 && size <= INT64_MAX; ++size) {
        for (int rank = 0; rank < processes; ++rank) {
            MPI_Count bytes = 0;
            CHECK_OK(MPI_Type_create_darray_c(
                processes, rank, 1, &size, &block, &by_default, &processes, MPI_ORDER_C, MPI_BYTE, &type));
            CHECK_OK(MPI_Type_size_c(type, &bytes));
            CHECK_EQUAL(bytes, rank == 0 ? size - size / 2 : size / 2);
            MPI_Type_free(&type);
        }
        if (size == INT64_MAX) {
            break;
        }
    }
}

/* Elements without data and extent, more than any number holds. */
static void check_arrays_of_nothing(void) {
    enum { dims = 4 };
    MPI_Count sizes[dims], starts[dims] = {0};
    MPI_Datatype nothing, point, array;
    MPI_Count size = -1;
    for (int i = 0; i < dims; ++i) {
        sizes[i] = (MPI_Count)1 << 40;
    }
    CHECK_OK(MPI_Type_contiguous(0, MPI_INT, &nothing));
    CHECK_OK(MPI_Type_create_resized(nothing, 0, 0, &point));
    CHECK_OK(MPI_Type_create_subarray_c(dims, sizes, sizes, starts, MPI_ORDER_C, point, &array));
    CHECK_OK(MPI_Type_commit(&array));
    CHECK_OK(MPI_Type_size_c(array, &size));
    CHECK_EQUAL((int)size, 0);
    check_extent(array, 0);
    MPI_Type_free(&array);
    MPI_Type_free(&point);
    MPI_Type_free(&nothing);
}

static void check_status(void) {
    MPI_Status status;
    MPI_Count elements = 0;
    CHECK_CLASS(MPI_Status_set_elements_c(&status, MPI_INT, half), MPI_ERR_VALUE_TOO_LARGE);
    CHECK_CLASS(MPI_Status_set_elements_c(&status, MPI_INT, half + 5), MPI_ERR_VALUE_TOO_LARGE);
    CHECK_OK(MPI_Status_set_elements_c(&status, MPI_BYTE, INT64_MAX));
    CHECK_OK(MPI_Get_elements_c(&status, MPI_BYTE, &elements));
    CHECK_EQUAL(elements, INT64_MAX);
    CHECK_OK(MPI_Status_set_elements_c(&status, MPI_INT, INT64_MAX / 4));
    CHECK_OK(MPI_Get_elements_c(&status, MPI_INT, &elements));
    CHECK_EQUAL(elements, INT64_MAX / 4);
}

/* Each level is the only user of the one below. */
static void check_depth(int constructor, int levels) {
    MPI_Datatype type = MPI_INT;
    int value = 0;
    MPI_Request request;
    for (int i = 0; i < levels; ++i) {
        MPI_Datatype outer;
        int lengths[2] = {1, 0};
        MPI_Aint places[2] = {0, 0};
        MPI_Datatype types[2] = {type, type};
        switch (constructor) {
        case 0:
            MPI_Type_contiguous(1, type, &outer);
            break;
        case 1:
            MPI_Type_dup(type, &outer);
            break;
        case 2:
            MPI_Type_create_resized(type, 0, 4 + 4 * (i & 1), &outer);
            break;
        default:
            MPI_Type_create_struct(2, lengths, places, types, &outer);
            break;
        }
        if (type != MPI_INT) {
            MPI_Type_free(&type);
        }
        type = outer;
    }
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Irecv(&value, 1, type, 0, 0, MPI_COMM_SELF, &request));
    const int sent = 7;
    CHECK_OK(MPI_Send(&sent, 1, MPI_INT, 0, 0, MPI_COMM_SELF));
    MPI_Status status;
    int elements = 0;
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_EQUAL(value, sent);
    CHECK_OK(MPI_Get_elements(&status, type, &elements)); /* the typed view */
    CHECK_EQUAL(elements, 1);
    CHECK_OK(MPI_Type_free(&type));
}

static void* check_depths(void* unused) {
    for (int constructor = 0; constructor < 4; ++constructor) {
        check_depth(constructor, 20000);
    }
    return unused;
}

int main(int argc, char** argv) {
    int provided;
    pthread_t thread;
    pthread_attr_t small;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check_strides();
    check_arrays();
    check_arrays_of_nothing();
    check_status();
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 << 10);
    CHECK_EQUAL(pthread_create(&thread, &small, check_depths, NULL), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&small);
    return finish();
}
