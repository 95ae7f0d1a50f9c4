/* SPDX-License-Identifier: BSD-3-Clause */
/* Listing 4 of the paper on thread communicators: MPI_Reduce of an array of each thread, and the same by the reduction
 * clause of OpenMP in one process. Usage: threadcomm_reduce THREADS */
#include <mpix.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { elements = 4096 };

static void by_mpi(int sum[elements], int threads, MPI_Comm comm) {
#pragma omp parallel num_threads(threads)
    {
        int my[elements], rank;
        MPIX_Threadcomm_start(comm);
        MPI_Comm_rank(comm, &rank);
        for (int i = 0; i < elements; ++i) {
            my[i] = omp_get_thread_num();
        }
        /* Which thread is rank 0 is not known before. */
        MPI_Reduce(my, rank == 0 ? sum : NULL, elements, MPI_INT, MPI_SUM, 0, comm);
        MPIX_Threadcomm_finish(comm);
    }
}

static void by_openmp(int sum[elements], int threads) {
#pragma omp parallel num_threads(threads) reduction(+ : sum[:elements])
    for (int i = 0; i < elements; ++i) {
        sum[i] += omp_get_thread_num();
    }
}

int main(int argc, char** argv) {
    const int threads = argc > 1 ? atoi(argv[1]) : 4;
    static int sum[elements], wanted[elements];
    int rank = 0, processes = 0, wrong = 0;
    MPI_Comm comm;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    MPIX_Threadcomm_init(MPI_COMM_WORLD, threads, &comm);
    by_mpi(sum, threads, comm);
    by_openmp(wanted, threads);
    for (int i = 0; rank == 0 && i < elements; ++i) {
        wrong += sum[i] != wanted[i] * processes;
    }
    MPIX_Threadcomm_free(&comm);
    MPI_Finalize();
    printf("%d wrong sums\n", wrong);
    return wrong != 0;
}
