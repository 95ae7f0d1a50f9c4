/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts over 2^31: large [GIB]. A window of GIB GiB (3) on the last rank, put and got in one call each, and
 * elements beyond 4 GiB by a large count of a derived datatype. */
#include "tests/mpi_check/check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static unsigned char value_at(MPI_Count byte) {
    return (unsigned char)((unsigned long long)byte * 2654435761u >> 17);
}

static void fill(unsigned char* bytes, MPI_Count count) {
    for (MPI_Count i = 0; i < count; ++i) {
        bytes[i] = value_at(i);
    }
}

static MPI_Count first_difference(const unsigned char* bytes, MPI_Count count) {
    for (MPI_Count i = 0; i < count; ++i) {
        if (bytes[i] != value_at(i)) {
            return i;
        }
    }
    return -1;
}

static void check_bytes(MPI_Win window, unsigned char* base, unsigned char* own, MPI_Count bytes) {
    const int target = size - 1;
    if (rank == 0) {
        fill(own, bytes);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
        CHECK_OK(MPI_Put_c(own, bytes, MPI_BYTE, target, 0, bytes, MPI_BYTE, window));
        MPI_Win_unlock(target, window);
        memset(own, 0, (size_t)bytes);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == target) {
        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
        CHECK_EQUAL(first_difference(base, bytes), -1);
        MPI_Win_unlock(target, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Request request;
        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
        CHECK_OK(MPI_Rget_c(own, bytes, MPI_BYTE, target, 0, bytes, MPI_BYTE, window, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        MPI_Win_unlock(target, window);
        CHECK_EQUAL(first_difference(own, bytes), -1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* One int in each MiB, the last one near the end. */
static void check_spread(MPI_Win window, unsigned char* base, MPI_Count bytes) {
    enum { stride = 1 << 20 };
    const int target = size - 1;
    const MPI_Count count = bytes / stride;
    MPI_Datatype spread;
    int* values = malloc(sizeof(int) * (size_t)count);
    for (MPI_Count i = 0; i < count; ++i) {
        values[i] = (int)i + 1;
    }
    MPI_Type_create_resized(MPI_INT, 0, stride, &spread);
    MPI_Type_commit(&spread);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
        CHECK_OK(MPI_Accumulate_c(values, count, MPI_INT, target, 0, count, spread, MPI_REPLACE, window));
        CHECK_OK(MPI_Accumulate_c(values, count, MPI_INT, target, 0, count, spread, MPI_SUM, window));
        MPI_Win_unlock(target, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == target) {
        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
        for (MPI_Count i = 0; i < count; ++i) {
            int got;
            memcpy(&got, base + i * stride, sizeof got);
            CHECK_EQUAL(got, 2 * (i + 1));
        }
        MPI_Win_unlock(target, window);
    }
    MPI_Type_free(&spread);
    free(values);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const MPI_Count bytes = ((MPI_Count)(argc > 1 ? atoi(argv[1]) : 3) << 30) + 12345;
    const double needed = 3.0 * (double)bytes;
    if ((double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) < needed) {
        if (rank == 0) {
            printf("SKIPPED: large: less than %.0f GiB of memory are free\n", needed / (1 << 30));
        }
        MPI_Finalize();
        return 0;
    }
    unsigned char *base = NULL, *own = rank == 0 ? malloc((size_t)bytes) : NULL;
    MPI_Win window;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int allocated = 1; allocated >= 0; --allocated) {
        const MPI_Aint mine = rank == size - 1 ? (MPI_Aint)bytes : 0;
        if (allocated) {
            if (class_of(MPI_Win_allocate(mine, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window)) != MPI_SUCCESS) {
                if (rank == 0) {
                    printf("MPI_Win_allocate has no memory for %lld bytes\n", (long long)bytes);
                }
                continue;
            }
        } else {
            base = mine > 0 ? malloc((size_t)mine) : NULL;
            CHECK_OK(MPI_Win_create(base, mine, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window));
        }
        check_bytes(window, base, own, bytes);
        check_spread(window, base, bytes);
        MPI_Win_free(&window);
        if (!allocated) {
            free(base);
        }
    }
    free(own);
    return finish();
}
