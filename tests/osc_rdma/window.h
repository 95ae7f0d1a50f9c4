/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PATCHBAY_TESTS_OSC_RDMA_WINDOW_H
#define PATCHBAY_TESTS_OSC_RDMA_WINDOW_H
/* A window of 64-bit numbers over memory that the caller has: of MPI_Win_create, or dynamic. */
#include "tests/mpi_check/check.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static MPI_Win window;
static MPI_Aint* places; /* of a dynamic window: the address of each target's memory */

static inline void open_window(const char* kind, int64_t* memory, size_t count, int size) {
    const MPI_Aint bytes = (MPI_Aint)(count * sizeof *memory);
    if (strcmp(kind, "dynamic") != 0) {
        CHECK_OK(MPI_Win_create(memory, bytes, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &window));
        return;
    }
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window));
    CHECK_OK(MPI_Win_attach(window, memory, bytes));
    places = (MPI_Aint*)calloc((size_t)size, sizeof *places);
    MPI_Aint own;
    MPI_Get_address(memory, &own);
    MPI_Allgather(&own, 1, MPI_AINT, places, 1, MPI_AINT, MPI_COMM_WORLD);
}

static inline void close_window(int64_t* memory) {
    if (places != NULL) {
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_OK(MPI_Win_detach(window, memory));
    }
    CHECK_OK(MPI_Win_free(&window));
    free(places);
}

/* The displacement of the number with that index. */
static inline MPI_Aint at(int target, MPI_Aint index) {
    return places == NULL ? index : MPI_Aint_add(places[target], index * (MPI_Aint)sizeof(int64_t));
}
#endif
