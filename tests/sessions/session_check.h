/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PATCHBAY_TESTS_SESSION_CHECK_H
#define PATCHBAY_TESTS_SESSION_CHECK_H
#include "tests/mpi_check/check.h"

#include <string.h>

/* `thread_level` may be null: the library chooses. Errors are returned. */
static inline MPI_Session open_session(const char* thread_level) {
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Info info = MPI_INFO_NULL;
    if (thread_level != NULL) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "thread_level", thread_level);
    }
    CHECK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
    if (info != MPI_INFO_NULL) {
        MPI_Info_free(&info);
    }
    return session;
}

static inline void check_info(MPI_Session session, const char* key, const char* expected) {
    MPI_Info info = MPI_INFO_NULL;
    char value[MPI_MAX_INFO_VAL] = "";
    int length = sizeof value, flag = 0;
    CHECK(MPI_Session_get_info(session, &info) == MPI_SUCCESS);
    CHECK(MPI_Info_get_string(info, key, &length, value, &flag) == MPI_SUCCESS && flag);
    CHECK(strcmp(value, expected) == 0);
    MPI_Info_free(&info);
}
#endif
