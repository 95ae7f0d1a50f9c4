// SPDX-License-Identifier: BSD-3-Clause
// Types found by their properties: parameterised Fortran types, value and index pairs.
#include "tests/mpi_check/check.h"

/* The type made with the least range or precision that is enough, its envelope and its contents. */
static void check_f90(MPI_Datatype type, int combiner, int integers, const int* arguments, int wanted_size) {
    int size = -1, n_integers = -1, n_addresses = -1, n_types = -1, found = -1, got[2] = {-1, -1};
    CHECK_OK(MPI_Type_size(type, &size));
    CHECK_EQUAL(size, wanted_size);
    CHECK_OK(MPI_Type_get_envelope(type, &n_integers, &n_addresses, &n_types, &found));
    CHECK(n_integers == integers && n_addresses == 0 && n_types == 0 && found == combiner);
    CHECK_OK(MPI_Type_get_contents(type, integers, 0, 0, got, NULL, NULL));
    for (int i = 0; i < integers; ++i) {
        CHECK_EQUAL(got[i], arguments[i]);
    }
    CHECK_CLASS(MPI_Type_free(&type), MPI_ERR_TYPE); /* a predefined handle */
}

static void fortran_kinds(void) {
    const int ranges[] = {1, 2, 4, 9, 18, 38}, integer_sizes[] = {1, 1, 2, 4, 8, 16};
    MPI_Datatype type, again;
    for (int i = 0; i < 6; ++i) {
        type = again = MPI_DATATYPE_NULL;
        CHECK_OK(MPI_Type_create_f90_integer(ranges[i], &type));
        CHECK_OK(MPI_Type_create_f90_integer(ranges[i], &again));
        CHECK(type == again && type != MPI_DATATYPE_NULL);
        check_f90(type, MPI_COMBINER_F90_INTEGER, 1, &ranges[i], integer_sizes[i]);
    }
    CHECK_CLASS(MPI_Type_create_f90_integer(39, &type), MPI_ERR_ARG);

    const int kinds[][2] = {{6, 37}, {7, 37}, {6, 38}, {15, MPI_UNDEFINED}, {MPI_UNDEFINED, 300}};
    const int complex_sizes[] = {8, 16, 16, 16, 16};
    for (int i = 0; i < 5; ++i) {
        type = again = MPI_DATATYPE_NULL;
        CHECK_OK(MPI_Type_create_f90_complex(kinds[i][0], kinds[i][1], &type));
        CHECK_OK(MPI_Type_create_f90_complex(kinds[i][0], kinds[i][1], &again));
        CHECK(type == again && type != MPI_DATATYPE_NULL);
        check_f90(type, MPI_COMBINER_F90_COMPLEX, 2, kinds[i], complex_sizes[i]);
        CHECK_OK(MPI_Type_create_f90_real(kinds[i][0], kinds[i][1], &type));
        check_f90(type, MPI_COMBINER_F90_REAL, 2, kinds[i], complex_sizes[i] / 2);
        CHECK(type != again);
    }
    CHECK_CLASS(MPI_Type_create_f90_complex(MPI_UNDEFINED, MPI_UNDEFINED, &type), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_create_f90_complex(40, 10, &type), MPI_ERR_ARG);
}

/* They are usable as they are: an addition of what MPI_Type_create_f90_complex gave. */
static void fortran_arithmetic(void) {
    MPI_Datatype type;
    double a[2] = {1, 2}, b[2] = {10, 20};
    long long m = 5, n = 7;
    CHECK_OK(MPI_Type_create_f90_complex(15, 307, &type));
    CHECK_OK(MPI_Reduce_local(a, b, 1, type, MPI_SUM));
    CHECK(b[0] == 11 && b[1] == 22);
    CHECK_OK(MPI_Type_create_f90_integer(18, &type));
    CHECK_OK(MPI_Reduce_local(&m, &n, 1, type, MPI_MIN));
    CHECK(n == 5);
}

static void pairs(void) {
    MPI_Datatype pair = MPI_DATATYPE_NULL;
    CHECK_OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &pair));
    CHECK(pair == MPI_DOUBLE_INT);
    CHECK_OK(MPI_Type_get_value_index(MPI_FLOAT, MPI_INT, &pair));
    CHECK(pair == MPI_FLOAT_INT);
    CHECK_OK(MPI_Type_get_value_index(MPI_LONG, MPI_INT, &pair));
    CHECK(pair == MPI_LONG_INT);
    CHECK_OK(MPI_Type_get_value_index(MPI_INT, MPI_INT, &pair));
    CHECK(pair == MPI_2INT);
    CHECK_OK(MPI_Type_get_value_index(MPI_SHORT, MPI_INT, &pair));
    CHECK(pair == MPI_SHORT_INT);
    CHECK_OK(MPI_Type_get_value_index(MPI_LONG_DOUBLE, MPI_INT, &pair));
    CHECK(pair == MPI_LONG_DOUBLE_INT);
    /* No such pair is no error. */
    CHECK_OK(MPI_Type_get_value_index(MPI_C_BOOL, MPI_DOUBLE, &pair));
    CHECK(pair == MPI_DATATYPE_NULL);
    CHECK_CLASS(MPI_Type_get_value_index(MPI_DATATYPE_NULL, MPI_INT, &pair), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_get_value_index(MPI_INT, MPI_INT, NULL), MPI_ERR_ARG);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    fortran_kinds();
    fortran_arithmetic();
    pairs();
    MPI_Finalize();
    return failures() != 0;
}
