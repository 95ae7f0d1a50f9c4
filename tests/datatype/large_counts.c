// SPDX-License-Identifier: BSD-3-Clause
// Packing with MPI_Count and as external32, extents of every form, elements of a status.
#include "tests/mpi_check/check.h"

#include <string.h>

static MPI_Datatype every_other(void) {
    MPI_Datatype type;
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

static void packing(void) {
    const int in[4] = {1, 2, 3, 4};
    const double number = 0.5;
    int out[4] = {0, 0, 0, 0};
    double other = 0;
    char buffer[64];
    MPI_Count position = 0;
    MPI_Datatype even = every_other();
    CHECK_OK(MPI_Pack_c(in, 1, even, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
    CHECK_EQUAL(position, 8);
    CHECK_OK(MPI_Pack_c(&number, 1, MPI_DOUBLE, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
    CHECK_EQUAL(position, 16);
    CHECK_CLASS(MPI_Pack_c(in, 4, MPI_INT, buffer, 24, &position, MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
    CHECK_EQUAL(position, 16);
    position = 0;
    CHECK_OK(MPI_Unpack_c(buffer, 16, &position, out, 1, even, MPI_COMM_WORLD));
    CHECK_EQUAL(position, 8);
    CHECK_OK(MPI_Unpack_c(buffer, 16, &position, &other, 1, MPI_DOUBLE, MPI_COMM_WORLD));
    CHECK_EQUAL(position, 16);
    CHECK_CLASS(MPI_Unpack_c(buffer, 16, &position, &other, 1, MPI_DOUBLE, MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
    CHECK(out[0] == 1 && out[1] == 0 && out[2] == 3 && out[3] == 0 && other == 0.5);
    MPI_Type_free(&even);
}

/* Big-endian, with the sizes of the standard's table: 4 for MPI_INT and for MPI_LONG, 2 for MPI_WCHAR. */
static void external_packing(void) {
    const int in[4] = {1, -2, 3, 4};
    int out[4] = {0, 0, 0, 0};
    char buffer[64];
    MPI_Count position = 0, size_c = -1;
    MPI_Aint size = -1;
    MPI_Datatype even = every_other();
    CHECK_OK(MPI_Pack_external_size("external32", 3, even, &size));
    CHECK_EQUAL(size, 24);
    CHECK_OK(MPI_Pack_external_size_c("external32", 3, even, &size_c));
    CHECK_EQUAL(size_c, 24);
    CHECK_OK(MPI_Pack_external_size("external32", 5, MPI_LONG, &size));
    CHECK_EQUAL(size, 20);
    CHECK_OK(MPI_Pack_external_size("external32", 5, MPI_WCHAR, &size));
    CHECK_EQUAL(size, 10);
    CHECK_CLASS(MPI_Pack_external_size("native", 1, MPI_INT, &size), MPI_ERR_ARG);

    CHECK_OK(MPI_Pack_external_c("external32", in + 1, 1, even, buffer, sizeof buffer, &position));
    CHECK_EQUAL(position, 8);
    CHECK(memcmp(buffer, "\xff\xff\xff\xfe\0\0\0\4", 8) == 0);
    CHECK_CLASS(MPI_Pack_external_c("external32", in, 1, even, buffer, 12, &position), MPI_ERR_TRUNCATE);
    position = 0;
    CHECK_OK(MPI_Unpack_external_c("external32", buffer, 8, &position, out, 1, even));
    CHECK_EQUAL(position, 8);
    CHECK(out[0] == -2 && out[1] == 0 && out[2] == 4 && out[3] == 0);
    CHECK_CLASS(MPI_Unpack_external_c("external32", buffer, 8, &position, out, 1, even), MPI_ERR_TRUNCATE);
    CHECK_CLASS(MPI_Unpack_external_c("native", buffer, 8, &position, out, 1, even), MPI_ERR_ARG);
    MPI_Type_free(&even);
}

/* Two ints at 8 and 16 in a type whose bounds are -4 and 36: the true bounds are those of the data. */
static void extents(void) {
    MPI_Datatype places, type;
    MPI_Aint at[2] = {8, 16}, lb = -1, extent = -1;
    MPI_Count lb_c = -1, extent_c = -1, size = -1;
    MPI_Type_create_hindexed_block(2, 1, at, MPI_INT, &places);
    MPI_Type_create_resized(places, -4, 40, &type);
    CHECK_OK(MPI_Type_get_extent(type, &lb, &extent));
    CHECK(lb == -4 && extent == 40);
    CHECK_OK(MPI_Type_get_extent_c(type, &lb_c, &extent_c));
    CHECK(lb_c == -4 && extent_c == 40);
    lb_c = extent_c = -1;
    CHECK_OK(MPI_Type_get_extent_x(type, &lb_c, &extent_c));
    CHECK(lb_c == -4 && extent_c == 40);
    CHECK_OK(MPI_Type_get_true_extent(type, &lb, &extent));
    CHECK(lb == 8 && extent == 12);
    CHECK_OK(MPI_Type_get_true_extent_c(type, &lb_c, &extent_c));
    CHECK(lb_c == 8 && extent_c == 12);
    lb_c = extent_c = -1;
    CHECK_OK(MPI_Type_get_true_extent_x(type, &lb_c, &extent_c));
    CHECK(lb_c == 8 && extent_c == 12);
    CHECK_OK(MPI_Type_size_x(type, &size));
    CHECK_EQUAL(size, 8);
    CHECK_CLASS(MPI_Type_get_true_extent(MPI_DATATYPE_NULL, &lb, &extent), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_get_true_extent_c(type, NULL, &extent_c), MPI_ERR_ARG);
    MPI_Type_free(&type);
    MPI_Type_free(&places);
}

static void elements(void) {
    MPI_Status status;
    MPI_Count count = -1;
    int small = -1;
    memset(&status, 0, sizeof status);
    CHECK_OK(MPI_Status_set_elements_x(&status, MPI_DOUBLE, (MPI_Count)3 << 32));
    CHECK_OK(MPI_Get_count_c(&status, MPI_DOUBLE, &count));
    CHECK_EQUAL(count, (MPI_Count)3 << 32);
    CHECK_OK(MPI_Get_count_c(&status, MPI_BYTE, &count));
    CHECK_EQUAL(count, (MPI_Count)3 << 35);
    CHECK_OK(MPI_Get_elements(&status, MPI_DOUBLE, &small));
    CHECK_EQUAL(small, MPI_UNDEFINED);
    CHECK_CLASS(MPI_Status_set_elements_x(&status, MPI_DOUBLE, -1), MPI_ERR_COUNT);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    packing();
    external_packing();
    extents();
    elements();
    MPI_Finalize();
    return failures() != 0;
}
