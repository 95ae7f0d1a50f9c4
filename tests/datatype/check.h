// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// For the MPI programs of this folder: a check that names its line and lets the program go on.
#include <mpi.h>
#include <stdio.h>

static int failures = 0;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            ++failures;                                                                                                \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);                              \
        }                                                                                                              \
    } while (0)

#define CHECK_EQUAL(got, wanted)                                                                                       \
    do {                                                                                                               \
        const long long got_value = (long long)(got);                                                                  \
        const long long wanted_value = (long long)(wanted);                                                            \
        if (got_value != wanted_value) {                                                                               \
            ++failures;                                                                                                \
            fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #got, got_value, wanted_value);       \
        }                                                                                                              \
    } while (0)

/* The class of the error that a call gave. */
static inline int class_of(int code) {
    int class = MPI_ERR_UNKNOWN;
    MPI_Error_class(code, &class);
    return class;
}

#define CHECK_CLASS(call, class) CHECK_EQUAL(class_of(call), class)
#define CHECK_OK(call) CHECK_CLASS(call, MPI_SUCCESS)
