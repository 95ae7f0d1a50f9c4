/* SPDX-License-Identifier: BSD-3-Clause */
/* The sizes of messages that a benchmark is given, and their names in its figures. */
#ifndef PATCHBAY_BENCH_SIZES_H
#define PATCHBAY_BENCH_SIZES_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void size_label(char* label, size_t room, long size) {
    if (size >= 1 << 20 && size % (1 << 20) == 0) {
        snprintf(label, room, "%ldMiB", size >> 20);
    } else if (size >= 1 << 10 && size % (1 << 10) == 0) {
        snprintf(label, room, "%ldKiB", size >> 10);
    } else {
        snprintf(label, room, "%ldB", size);
    }
}

/* The next size of a list of numbers with commas; 0 at its end. */
static inline long next_size(const char** list) {
    if (*list == NULL || **list == '\0') {
        return 0;
    }
    const long size = atol(*list);
    const char* comma = strchr(*list, ',');
    *list = comma != NULL ? comma + 1 : NULL;
    return size;
}
#endif
