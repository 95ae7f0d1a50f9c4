// SPDX-License-Identifier: BSD-3-Clause
// Two threads of two processes make intercommunicators between the same processes, with different tags: their calls
// have no order in common, and each communicator is that of its tag.
#include "tests/mpi_check/check.h"

#include <atomic>
#include <thread>

namespace {

constexpr int rounds = 400;

void work(MPI_Comm self, int other, int thread) {
    for (int round = 0; round < rounds; ++round) {
        MPI_Comm inter;
        int out = 1000 * thread + round, in = -1;
        CHECK_OK(MPI_Intercomm_create(self, 0, MPI_COMM_WORLD, other, thread, &inter));
        CHECK_OK(MPI_Sendrecv(&out, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE));
        CHECK_EQUAL(in, out);
        CHECK_OK(MPI_Comm_free(&inter));
    }
}

} // namespace

int main(int argc, char** argv) {
    int level = 0, rank = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm selves[2];
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &selves[0]));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &selves[1]));
    std::thread first([&] { work(selves[0], 1 - rank, 0); });
    std::thread second([&] { work(selves[1], 1 - rank, 1); });
    first.join();
    second.join();
    CHECK_OK(MPI_Comm_free(&selves[0]));
    CHECK_OK(MPI_Comm_free(&selves[1]));
    return finish();
}
