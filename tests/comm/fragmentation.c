/* SPDX-License-Identifier: BSD-3-Clause */
/* fragmentation COMMUNICATORS: each process duplicates MPI_COMM_SELF so many times and frees every second duplicate;
   odd ranks free the other half. Then all processes make 500 duplicates of MPI_COMM_WORLD. With 0 the free indices have
   no holes. counters_test.py reads the counters that the library prints. */
#include "tests/mpi_check/check.h"

#include <stdlib.h>

int main(int argc, char** argv) {
    enum { most = 4000, more = 500 };
    static MPI_Comm own[most], comms[more];
    int rank = 0;
    const int count = argc > 1 ? atoi(argv[1]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK(count <= most);
    for (int i = 0; i < count; ++i) {
        MPI_Comm_dup(MPI_COMM_SELF, &own[i]);
    }
    for (int i = rank % 2; i < count; i += 2) {
        MPI_Comm_free(&own[i]);
    }
    for (int i = 0; i < more; ++i) {
        CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]) == MPI_SUCCESS);
    }
    for (int i = 0; i < more; ++i) {
        MPI_Comm_free(&comms[i]);
    }
    for (int i = (rank + 1) % 2; i < count; i += 2) {
        MPI_Comm_free(&own[i]);
    }
    MPI_Finalize();
    return failures();
}
