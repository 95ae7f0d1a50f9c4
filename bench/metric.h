/* SPDX-License-Identifier: BSD-3-Clause */
/* The one line format in which a benchmark states a result; patchbay-ab reads it. Plain C and MPI only: the same source
   is built with every MPI that is compared. */
#ifndef PATCHBAY_BENCH_METRIC_H
#define PATCHBAY_BENCH_METRIC_H
#include <stdio.h>
#include <stdlib.h>

/* A test that ignores the figures compiles with -DBENCH_DIVISOR=N: N times fewer rounds. */
#ifndef BENCH_DIVISOR
#define BENCH_DIVISOR 1
#endif

/* METRIC <name> <value> <unit> <lower|higher: which is better> */
static inline void metric(const char* name, double value, const char* unit, const char* better) {
    printf("METRIC %s %.6g %s %s\n", name, value, unit, better);
}

static int metric_compare(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

/* Sorts the samples. */
static inline double metric_median(double* samples, int count) {
    qsort(samples, (size_t)count, sizeof *samples, metric_compare);
    return count % 2 ? samples[count / 2] : (samples[count / 2 - 1] + samples[count / 2]) / 2;
}
#endif
