// SPDX-License-Identifier: BSD-3-Clause
// MPI_Finalize where channels of all kinds are bound, were used, and are not unbound.
#include "tests/mpi_check/check.h"

#include <mpix.h>

#include <initializer_list>
#include <vector>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int partner = rank ^ 1;
    static std::vector<int> out(100000), in(100000);
    if (partner < size) {
        for (const int count : {0, 2, 1000, 100000}) {
            MPI_Request ins[2], bound[2];
            MPI_Send_init(out.data(), count, MPI_INT, partner, 0, MPI_COMM_WORLD, &ins[0]);
            MPI_Recv_init(in.data(), count, MPI_INT, partner, 0, MPI_COMM_WORLD, &ins[1]);
            CHECK_OK(MPIX_Bind_channels(ins, bound, 2, nullptr));
            CHECK_OK(MPI_Start(&bound[1]));
            MPI_Sendrecv(
                nullptr, 0, MPI_INT, partner, 9, nullptr, 0, MPI_INT, partner, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK_OK(MPI_Start(&bound[0]));
            CHECK_OK(MPI_Waitall(2, bound, MPI_STATUSES_IGNORE));
            MPI_Request_free(&ins[0]);
            MPI_Request_free(&ins[1]);
        }
    }
    MPI_Request nowhere, bound;
    MPI_Send_init(out.data(), 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &nowhere);
    CHECK_OK(MPIX_Bind_channel(nowhere, &bound, MPI_INFO_NULL));
    CHECK_OK(MPI_Start(&bound));
    CHECK_OK(MPI_Wait(&bound, MPI_STATUS_IGNORE));
    MPI_Request_free(&nowhere);
    return finish();
}
