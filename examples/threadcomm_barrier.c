/* SPDX-License-Identifier: BSD-3-Clause */
/* Listing 3 of the paper on thread communicators: MPI_Barrier in the place of the barrier of OpenMP. The threads count
 * themselves between the barriers. Usage: threadcomm_barrier THREADS */
#include <mpix.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { rounds = 1000 };

int main(int argc, char** argv) {
    const int threads = argc > 1 ? atoi(argv[1]) : 4;
    int count = 0, wrong = 0;
    MPI_Comm comm;
    MPI_Init(NULL, NULL);
    MPIX_Threadcomm_init(MPI_COMM_WORLD, threads, &comm);
#pragma omp parallel num_threads(threads) reduction(+ : wrong)
    {
        MPIX_Threadcomm_start(comm);
        const double begin = MPI_Wtime();
        for (int round = 1; round <= rounds; ++round) {
            int seen;
#pragma omp atomic
            ++count;
            MPI_Barrier(comm);
#pragma omp atomic read
            seen = count;
            wrong += seen != round * threads;
            MPI_Barrier(comm);
        }
        const double end = MPI_Wtime();
#pragma omp master
        printf("MPI_Barrier: %.2f us\n", (end - begin) / (2 * rounds) * 1e6);
        MPIX_Threadcomm_finish(comm);
    }
    MPIX_Threadcomm_free(&comm);
    MPI_Finalize();
    return wrong != 0;
}
