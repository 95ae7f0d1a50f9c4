/* SPDX-License-Identifier: BSD-3-Clause */
/* A process may have opened and closed sessions before MPI_Init which the others have not: MPI_Finalize ends also where
 * the launcher synchronizes the processes (mpirun --enable-recovery). */
#include "tests/mpi_check/check.h"

#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
    const char* const rank = getenv("PMIX_RANK");
    if (rank != NULL && strcmp(rank, "0") == 0) {
        for (int i = 0; i < 2; ++i) {
            MPI_Session session;
            CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
            CHECK_OK(MPI_Session_finalize(&session));
        }
    }
    MPI_Init(&argc, &argv);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    return finish();
}
