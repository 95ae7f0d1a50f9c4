/* SPDX-License-Identifier: BSD-3-Clause */
/* No rank may leave MPI_Barrier before the last rank has entered it. All ranks read one clock, so that the program can
   compare the times. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { ROUNDS = 20 };

int main(int argc, char** argv) {
    int rank, size, bad = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < ROUNDS; ++round) {
        if (rank == round % size) {
            const struct timespec late = {0, 2000000};
            nanosleep(&late, NULL);
        }
        double came = MPI_Wtime(), last_came, left, first_left;
        MPI_Barrier(MPI_COMM_WORLD);
        left = MPI_Wtime();
        MPI_Allreduce(&came, &last_came, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        MPI_Allreduce(&left, &first_left, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
        bad += first_left < last_came;
    }
    if (rank == 0) {
        printf("%d of %d barriers let a rank leave early\n", bad, ROUNDS);
    }
    MPI_Finalize();
    return bad != 0;
}
