/* SPDX-License-Identifier: BSD-3-Clause */
/* Info objects through the C interface: before, during and after MPI. */
#include "tests/mpi_check/check.h"

#include <string.h>

static void test_object(void) {
    MPI_Info info, copy;
    char value[MPI_MAX_INFO_VAL], key[MPI_MAX_INFO_KEY];
    int flag = -1, length = 0;
    CHECK(MPI_Info_create(&info) == MPI_SUCCESS);
    CHECK(MPI_Info_set(info, "colour", "green") == MPI_SUCCESS);
    CHECK(MPI_Info_set(info, "empty", "") == MPI_SUCCESS);
    CHECK(MPI_Info_get_nkeys(info, &length) == MPI_SUCCESS && length == 2);
    CHECK(MPI_Info_get_nthkey(info, 1, key) == MPI_SUCCESS && strcmp(key, "empty") == 0);

    length = sizeof value;
    CHECK(MPI_Info_get_string(info, "colour", &length, value, &flag) == MPI_SUCCESS);
    CHECK(flag && length == 6 && strcmp(value, "green") == 0);
    length = 3; /* cut, with a terminator; the full length comes back */
    CHECK(MPI_Info_get_string(info, "colour", &length, value, &flag) == MPI_SUCCESS);
    CHECK(flag && length == 6 && strcmp(value, "gr") == 0);
    length = 0; /* only asks */
    CHECK(MPI_Info_get_string(info, "colour", &length, NULL, &flag) == MPI_SUCCESS && flag && length == 6);
    length = 5;
    CHECK(MPI_Info_get_string(info, "sound", &length, value, &flag) == MPI_SUCCESS && !flag && length == 5);

    CHECK(MPI_Info_get(info, "colour", 2, value, &flag) == MPI_SUCCESS && flag && strcmp(value, "gr") == 0);
    CHECK(MPI_Info_get_valuelen(info, "colour", &length, &flag) == MPI_SUCCESS && flag && length == 5);

    CHECK(MPI_Info_dup(info, &copy) == MPI_SUCCESS);
    CHECK(MPI_Info_delete(info, "colour") == MPI_SUCCESS);
    CHECK(MPI_Info_get_nkeys(copy, &length) == MPI_SUCCESS && length == 2);
    CHECK(MPI_Info_free(&copy) == MPI_SUCCESS && copy == MPI_INFO_NULL);
    CHECK(MPI_Info_free(&info) == MPI_SUCCESS);
}

static void test_environment(char** argv) {
    MPI_Info made;
    char value[MPI_MAX_INFO_VAL];
    int flag = 0, length = sizeof value;
    CHECK(MPI_Info_create_env(1, argv, &made) == MPI_SUCCESS);
    CHECK(MPI_Info_get_string(made, "command", &length, value, &flag) == MPI_SUCCESS);
    CHECK(flag && strcmp(value, argv[0]) == 0);
    CHECK(MPI_Info_free(&made) == MPI_SUCCESS);
}

static void test_errors(void) {
    MPI_Info info;
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
    memset(key, 'k', sizeof key - 1);
    memset(value, 'v', sizeof value - 1);
    key[sizeof key - 1] = value[sizeof value - 1] = '\0';
    MPI_Info_create(&info);
    CHECK(MPI_Info_set(info, key, "x") == MPI_ERR_INFO_KEY);
    CHECK(MPI_Info_set(info, "", "x") == MPI_ERR_INFO_KEY);
    CHECK(MPI_Info_set(info, "x", value) == MPI_ERR_INFO_VALUE);
    CHECK(MPI_Info_delete(info, "x") == MPI_ERR_INFO_NOKEY);
    CHECK(MPI_Info_get_nthkey(info, 0, key) == MPI_ERR_ARG);
    CHECK(MPI_Info_set(MPI_INFO_NULL, "x", "y") == MPI_ERR_INFO);
    CHECK(MPI_Info_set(MPI_INFO_ENV, "x", "y") == MPI_ERR_INFO);
    MPI_Info_free(&info);
}

int main(int argc, char** argv) {
    char value[64];
    int flag = 0, length = sizeof value, size;
    test_object();
    test_environment(argv);
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    test_object();
    test_errors();
    CHECK(MPI_Info_get_string(MPI_INFO_ENV, "maxprocs", &length, value, &flag) == MPI_SUCCESS && flag);
    int digits = 0;
    CHECK(sscanf(value, "%d", &digits) == 1 && digits == size);
    MPI_Finalize();
    test_object();
    return failures();
}
