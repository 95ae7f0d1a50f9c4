/* SPDX-License-Identifier: BSD-3-Clause */
/* One message of more than 4 GiB. */
#include "tests/mpi_check/check.h"

#include <stdlib.h>
#include <sys/sysinfo.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size, enough;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const MPI_Count n = ((MPI_Count)1 << 32) + 12345;
    struct sysinfo memory;
    sysinfo(&memory);
    enough = (memory.freeram + memory.bufferram) * memory.mem_unit > 3ull * (unsigned long long)n;
    MPI_Allreduce(MPI_IN_PLACE, &enough, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!enough || size < 2) {
        if (rank == 0) {
            printf("SKIPPED: pt2pt/huge: needs two ranks and 13 GB of free memory\n");
        }
        MPI_Finalize();
        return 0;
    }
    if (rank < 2) {
        unsigned char* data = malloc((size_t)n);
        for (MPI_Count i = 0; i < n; i += 4096) {
            data[i] = rank == 0 ? (unsigned char)(i >> 12) : 0xff;
        }
        data[n - 1] = rank == 0 ? 77 : 0;
        if (rank == 0) {
            MPI_Send_c(data, n, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        } else {
            MPI_Status status;
            MPI_Count got;
            int small;
            MPI_Recv_c(data, n, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &status);
            MPI_Get_count_c(&status, MPI_BYTE, &got);
            MPI_Get_count(&status, MPI_BYTE, &small);
            CHECK(got == n && small == MPI_UNDEFINED);
            int good = data[n - 1] == 77;
            for (MPI_Count i = 0; i < n - 1; i += 4096) {
                good = good && data[i] == (unsigned char)(i >> 12);
            }
            CHECK(good);
        }
        free(data);
    }
    return finish();
}
