/* SPDX-License-Identifier: BSD-3-Clause */
/* Listing 1 of the paper on thread communicators: every thread of every process is a rank. Usage: threadcomm_ranks
 * THREADS */
#include <mpix.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    const int threads = argc > 1 ? atoi(argv[1]) : 4;
    int processes = 0, wrong = 0;
    MPI_Comm threadcomm;
    MPI_Init(NULL, NULL);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    MPIX_Threadcomm_init(MPI_COMM_WORLD, threads, &threadcomm);
#pragma omp parallel num_threads(threads) reduction(+ : wrong)
    {
        int rank, size, sum = 0;
        MPIX_Threadcomm_start(threadcomm);
        MPI_Comm_size(threadcomm, &size);
        MPI_Comm_rank(threadcomm, &rank);
        printf("  Rank %d / %d\n", rank, size);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, threadcomm);
        wrong += size != processes * threads || sum != size * (size - 1) / 2;
        MPIX_Threadcomm_finish(threadcomm);
    }
    MPIX_Threadcomm_free(&threadcomm);
    MPI_Finalize();
    return wrong != 0;
}
