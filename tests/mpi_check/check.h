/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PATCHBAY_TESTS_CHECK_H
#define PATCHBAY_TESTS_CHECK_H
/* For MPI test programs in C and C++: a check that fails prints its text and line, is counted, and lets the program go
 * on. Return failures() or finish() from main. */
#include <mpi.h>
#include <stdio.h>

static int check_failures;

/* Threads may fail at the same time. A process prints its first failures only. */
static inline void check_failed(const char* file, int line, const char* what) {
    if (__atomic_fetch_add(&check_failures, 1, __ATOMIC_RELAXED) < 20) {
        fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
    }
}

static inline void check_equal(const char* file, int line, const char* what, long long got, long long wanted) {
    if (got != wanted) {
        char text[512];
        snprintf(text, sizeof text, "%s is %lld, not %lld", what, got, wanted);
        check_failed(file, line, text);
    }
}

/* The class of the error that a call returned. */
static inline int class_of(int code) {
    int error_class = MPI_ERR_UNKNOWN;
    MPI_Error_class(code, &error_class);
    return error_class;
}

/* Whether any check has failed, as an exit status. */
static inline int failures(void) {
    return __atomic_load_n(&check_failures, __ATOMIC_RELAXED) != 0;
}

/* Ends MPI and gives the exit status. */
static inline int finish(void) {
    MPI_Finalize();
    return failures();
}

#define CHECK(condition) CHECK_TEXT(condition, #condition)
/* With a text in place of the condition. */
#define CHECK_TEXT(condition, text) ((condition) ? (void)0 : check_failed(__FILE__, __LINE__, text))
#define CHECK_EQUAL(got, wanted) check_equal(__FILE__, __LINE__, #got, (long long)(got), (long long)(wanted))
#define CHECK_CLASS(call, error_class) CHECK_EQUAL(class_of(call), error_class)
#define CHECK_OK(call) CHECK_CLASS(call, MPI_SUCCESS)
#endif
