/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Allgather and MPI_Alltoall that send more than they receive, in all processes or in one: an error in each process
 * that receives too much, and no process waits for ever. */
#include "tests/mpi_check/check.h"

#include <stdlib.h>

enum { calls_before = 40, most = 200000, received = 4 };

static int rank, size;

int main(int argc, char** argv) {
    static const int lengths[] = {5, 5000, 65535, 65540, 70000, most};
    int one = 1, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < calls_before; ++i) { /* so that all components are in use */
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    char* from = calloc((size_t)size, most);
    char* to = calloc((size_t)size, received);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
        const int length = lengths[i];
        CHECK(MPI_SUCCESS != MPI_Allgather(from, length, MPI_BYTE, to, received, MPI_BYTE, MPI_COMM_WORLD));
        CHECK(MPI_SUCCESS != MPI_Alltoall(from, length, MPI_BYTE, to, received, MPI_BYTE, MPI_COMM_WORLD));
        const int wrong = rank == size - 1;
        const int code =
            MPI_Allgather(from, wrong ? length : received, MPI_BYTE, to, received, MPI_BYTE, MPI_COMM_WORLD);
        CHECK(code != MPI_SUCCESS);
        MPI_Request request;
        CHECK_OK(MPI_Allgather_init(
            from, length, MPI_BYTE, to, received, MPI_BYTE, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
        for (int start = 0; start < 2; ++start) {
            const int started = MPI_Start(&request);
            CHECK(started != MPI_SUCCESS || MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS);
        }
        MPI_Request_free(&request);
    }
    free(from);
    free(to);
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQUAL(sum, size);
    return finish();
}
