/* SPDX-License-Identifier: BSD-3-Clause */
/* Thread communicators in parallel regions of OpenMP, nested ones included, and a region with a wrong number of
 * threads. */
#include "tests/mpi_check/check.h"

#include <mpix.h>
#include <omp.h>

static void check_region(MPI_Comm comm, int threads) {
#pragma omp parallel num_threads(threads)
    {
        int rank = -1, size = -1, sum = -1;
        CHECK_OK(MPIX_Threadcomm_start(comm));
        CHECK_OK(MPI_Comm_rank(comm, &rank));
        CHECK_OK(MPI_Comm_size(comm, &size));
        CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK_EQUAL(sum, size * (size - 1) / 2);
        /* The threads of a nested region do not have the communicator. */
        const int outer = omp_get_thread_num();
#pragma omp parallel num_threads(2) shared(outer)
        if (omp_get_thread_num() != 0) {
            int other = -1;
            CHECK_CLASS(MPI_Comm_rank(comm, &other), MPI_ERR_COMM);
        }
        (void)outer;
        CHECK_OK(MPIX_Threadcomm_finish(comm));
    }
}

int main(void) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    omp_set_max_active_levels(2);
    CHECK_OK(MPIX_Threadcomm_init(MPI_COMM_WORLD, 4, &comm));
    for (int round = 0; round < 20; ++round) {
        check_region(comm, 4);
    }
#pragma omp parallel num_threads(3)
    CHECK_CLASS(MPIX_Threadcomm_start(comm), MPI_ERR_ARG);
    check_region(comm, 4);
    CHECK_OK(MPIX_Threadcomm_free(&comm));
    return finish();
}
