/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PATCHBAY_TESTS_OSC_RDMA_DELEGATION_H
#define PATCHBAY_TESTS_OSC_RDMA_DELEGATION_H
/* What MPI_T tells of operations that are left to the process of the target. */
#include "tests/mpi_check/check.h"

static MPI_T_pvar_session pvar_session;

static inline void open_counters(void) {
    int provided;
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    CHECK_OK(MPI_T_pvar_session_create(&pvar_session));
}

static inline void close_counters(void) {
    CHECK_OK(MPI_T_pvar_session_free(&pvar_session));
    CHECK_OK(MPI_T_finalize());
}

/* A handle whose count begins now. */
static inline MPI_T_pvar_handle counter(const char* name) {
    int index = -1, count = 0;
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    CHECK_OK(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index));
    CHECK_OK(MPI_T_pvar_handle_alloc(pvar_session, index, NULL, &handle, &count));
    return handle;
}

static inline unsigned long long read_counter(MPI_T_pvar_handle handle) {
    unsigned long long value = 0;
    CHECK_OK(MPI_T_pvar_read(pvar_session, handle, &value));
    return value;
}
#endif
