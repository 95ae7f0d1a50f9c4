/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PATCHBAY_TESTS_SPAWN_FAMILY_H
#define PATCHBAY_TESTS_SPAWN_FAMILY_H
#include "tests/mpi_check/check.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

/* The path of this program, which starts itself. */
static inline const char* self_path(void) {
    static char path[4096];
    if (path[0] == '\0') {
        const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
        CHECK(length > 0);
    }
    return path;
}
#endif
