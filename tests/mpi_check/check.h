/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PATCHBAY_TESTS_CHECK_H
#define PATCHBAY_TESTS_CHECK_H
/* For MPI test programs: CHECK(condition) says what failed and where, and goes on; return failures() from main. */
#include <mpi.h>
#include <stdio.h>

static int check_failures;

static inline void check_failed(const char* file, int line, const char* what) {
    fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
    ++check_failures;
}

#define CHECK(condition) ((condition) ? (void)0 : check_failed(__FILE__, __LINE__, #condition))

static inline int failures(void) {
    return check_failures != 0;
}
#endif
