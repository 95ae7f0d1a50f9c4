// SPDX-License-Identifier: BSD-3-Clause
// Adds up the ranks; exit status 0 when the sum is right everywhere.
#include <iostream>
#include <mpi.h>
#include <vector>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::vector<double> mine(3, rank);
    std::vector<double> sum(3);
    MPI_Allreduce(mine.data(), sum.data(), 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        std::cout << "sum " << sum[2] << " of " << size << '\n';
    }
    MPI_Finalize();
    return sum[0] != size * (size - 1) / 2.0;
}
