// SPDX-License-Identifier: BSD-3-Clause
// A send to a thread of another process that is in MPIX_Threadcomm_finish already: it can be cancelled, and MPI_Wait
// ends. The region is used again at once: messages of a process that is in the next one are not lost.
#include "tests/threadcomm/region.h"

#include <chrono>

namespace {

constexpr int threads = 2;
constexpr int bytes = 100'000;

void cancel_late(const Here& here) {
    std::vector<char> data(bytes);
    MPI_Request request;
    MPI_Status status;
    int is_cancelled = 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(300)); // the others are in their finish
    CHECK_OK(MPI_Isend(data.data(), bytes, MPI_CHAR, 0, 5, here.comm, &request));
    CHECK_OK(MPI_Cancel(&request));
    CHECK_OK(MPI_Wait(&request, &status));
    MPI_Test_cancelled(&status, &is_cancelled);
    CHECK(is_cancelled);
}

void exchange(const Here& here, int round) {
    int size = 0, got = -1;
    MPI_Comm_size(here.comm, &size);
    CHECK_OK(MPI_Sendrecv(&round, 1, MPI_INT, (here.rank + 1) % size, 0, &got, 1, MPI_INT,
        (here.rank + size - 1) % size, 0, here.comm, MPI_STATUS_IGNORE));
    CHECK_EQUAL(got, round);
}

} // namespace

int main(int argc, char** argv) {
    int level = 0;
    MPI_Comm comm;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    CHECK_OK(MPIX_Threadcomm_init(MPI_COMM_WORLD, threads, &comm));
    for (int round = 0; round < 2; ++round) {
        run_threads(comm, threads, [&](const Here& here) {
            MPI_Barrier(here.comm);
            if (here.rank == threads) { // the first thread of the second process
                cancel_late(here);
            }
        });
    }
    for (int round = 0; round < 100; ++round) {
        run_threads(comm, threads, [&](const Here& here) { exchange(here, round); });
    }
    CHECK_OK(MPIX_Threadcomm_free(&comm));
    return finish();
}
