/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Register_datarep: what may be registered, and every error. Files, which use the functions, are not there. */
#include "tests/mpi_check/check.h"

#include <string.h>

static int handled;

static void count_error(MPI_Comm* comm, int* code, ...) {
    (void)comm, (void)code;
    ++handled;
}

static int extent(MPI_Datatype datatype, MPI_Aint* bytes, void* extra_state) {
    (void)datatype, (void)extra_state;
    *bytes = 4;
    return MPI_SUCCESS;
}

static int convert(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position, void* extra_state) {
    (void)user, (void)type, (void)count, (void)file, (void)position, (void)extra_state;
    return MPI_SUCCESS;
}

static int convert_c(
    void* user, MPI_Datatype type, MPI_Count count, void* file, MPI_Offset position, void* extra_state) {
    (void)user, (void)type, (void)count, (void)file, (void)position, (void)extra_state;
    return MPI_SUCCESS;
}

static void check_error(int code, int wanted, const char* text) {
    char string[MPI_MAX_ERROR_STRING] = "";
    int length, class = -1;
    MPI_Error_class(code, &class);
    MPI_Error_string(code, string, &length);
    CHECK_EQUAL(class, wanted);
    CHECK_TEXT(strstr(string, text) != NULL, string);
}

int main(int argc, char** argv) {
    MPI_Errhandler counting;
    char longest[MPI_MAX_DATAREP_STRING], too_long[MPI_MAX_DATAREP_STRING + 1];
    MPI_Init(&argc, &argv);
    MPI_Comm_create_errhandler(count_error, &counting);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, counting);
    MPI_Errhandler_free(&counting);
    memset(longest, 'l', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    memset(too_long, 'l', sizeof too_long);
    too_long[sizeof too_long - 1] = '\0';

    CHECK_OK(MPI_Register_datarep("one", convert, convert, extent, &handled));
    CHECK_OK(MPI_Register_datarep("One", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent, NULL));
    CHECK_OK(MPI_Register_datarep_c("other", convert_c, MPI_CONVERSION_FN_NULL_C, extent, NULL));
    CHECK_OK(MPI_Register_datarep(longest, convert, MPI_CONVERSION_FN_NULL, extent, NULL));
    CHECK_EQUAL(handled, 0);
    check_error(MPI_Register_datarep("one", convert, convert, extent, NULL), MPI_ERR_DUP_DATAREP,
        "datarep is \"one\", which is defined already");
    check_error(MPI_Register_datarep("other", convert, convert, extent, NULL), MPI_ERR_DUP_DATAREP, "\"other\"");
    check_error(MPI_Register_datarep_c("one", convert_c, convert_c, extent, NULL), MPI_ERR_DUP_DATAREP,
        "MPI_Register_datarep_c");
    check_error(MPI_Register_datarep("native", convert, convert, extent, NULL), MPI_ERR_DUP_DATAREP, "\"native\"");
    check_error(MPI_Register_datarep("internal", convert, convert, extent, NULL), MPI_ERR_DUP_DATAREP, "\"internal\"");
    check_error(MPI_Register_datarep_c("external32", convert_c, convert_c, extent, NULL), MPI_ERR_DUP_DATAREP,
        "\"external32\"");
    check_error(MPI_Register_datarep(too_long, convert, convert, extent, NULL), MPI_ERR_ARG, "MPI_MAX_DATAREP_STRING");
    check_error(MPI_Register_datarep(NULL, convert, convert, extent, NULL), MPI_ERR_ARG, "datarep");
    check_error(MPI_Register_datarep("third", convert, convert, NULL, NULL), MPI_ERR_ARG, "dtype_file_extent_fn");
    CHECK_OK(MPI_Register_datarep("third", convert, convert, extent, NULL));

    CHECK_EQUAL(handled, 0); /* the error handler of MPI_FILE_NULL returns */
    MPI_Aint size;
    check_error(MPI_Pack_external_size("one", 1, MPI_INT, &size), MPI_ERR_ARG, "external32"); /* the only one there */
    CHECK_EQUAL(handled, 1);
    MPI_Finalize();
    return failures();
}
