/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PATCHBAY_TESTS_MPI_T_H
#define PATCHBAY_TESTS_MPI_T_H
/* Control and performance variables by name. */
#include "tests/mpi_check/check.h"

#include <string.h>

static inline int cvar_index(const char* name) {
    int index = -1;
    CHECK_TEXT(MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS, name);
    return index;
}

static inline int pvar_index(const char* name, int var_class) {
    int index = -1;
    CHECK_TEXT(MPI_T_pvar_get_index(name, var_class, &index) == MPI_SUCCESS, name);
    return index;
}

static inline MPI_T_cvar_handle cvar_handle(const char* name, int* count) {
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    CHECK(MPI_T_cvar_handle_alloc(cvar_index(name), NULL, &handle, count) == MPI_SUCCESS);
    return handle;
}

/* Of a variable with one number. */
static inline long long read_cvar(const char* name) {
    int count = 0;
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    MPI_T_cvar_get_info(cvar_index(name), NULL, NULL, NULL, &datatype, NULL, NULL, NULL, NULL, NULL);
    MPI_T_cvar_handle handle = cvar_handle(name, &count);
    CHECK_EQUAL(count, 1);
    long long value = -1;
    if (datatype == MPI_INT) {
        int number = -1;
        CHECK(MPI_T_cvar_read(handle, &number) == MPI_SUCCESS);
        value = number;
    } else {
        MPI_Count number = -1;
        CHECK(datatype == MPI_COUNT && MPI_T_cvar_read(handle, &number) == MPI_SUCCESS);
        value = number;
    }
    CHECK(MPI_T_cvar_handle_free(&handle) == MPI_SUCCESS && handle == MPI_T_CVAR_HANDLE_NULL);
    return value;
}

/* Returns the code. */
static inline int write_cvar(const char* name, long long value) {
    int count = 0, code;
    MPI_T_cvar_handle handle = cvar_handle(name, &count);
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    /* Only the datatype: the scope is not asked for. */
    MPI_T_cvar_get_info(cvar_index(name), NULL, NULL, NULL, &datatype, NULL, NULL, NULL, NULL, NULL);
    if (datatype == MPI_INT) {
        int number = (int)value;
        code = MPI_T_cvar_write(handle, &number);
    } else {
        MPI_Count number = value;
        code = MPI_T_cvar_write(handle, &number);
    }
    MPI_T_cvar_handle_free(&handle);
    return code;
}

static inline MPI_T_pvar_handle pvar_handle(MPI_T_pvar_session session, const char* name, int var_class, void* object) {
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    int count = 0;
    CHECK_TEXT(
        MPI_T_pvar_handle_alloc(session, pvar_index(name, var_class), object, &handle, &count) == MPI_SUCCESS, name);
    CHECK(count >= 1);
    return handle;
}

static inline unsigned long long read_pvar(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
    unsigned long long value = ~0ULL;
    CHECK_EQUAL(MPI_T_pvar_read(session, handle, &value), MPI_SUCCESS);
    return value;
}
#endif
