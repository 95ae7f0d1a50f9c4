// SPDX-License-Identifier: BSD-3-Clause
// Two teams of threads, each with a thread communicator of its own over all processes: one ends while the other one
// starts, which needs the locks of the library from then on.
#include "tests/threadcomm/region.h"

#include <barrier>

namespace {

constexpr int rounds = 400;
constexpr int messages = 40;
constexpr int words = 900;

void exchange(MPI_Comm comm) {
    int rank = 0, size = 0;
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Comm_size(comm, &size));
    const int other = (rank + size / 2) % size; // of another process
    std::vector<int> in(words), out(words);
    for (int i = 0; i < messages; ++i) {
        out.assign(words, rank * 1000 + i);
        CHECK_OK(MPI_Sendrecv(
            out.data(), words, MPI_INT, other, i, in.data(), words, MPI_INT, other, i, comm, MPI_STATUS_IGNORE));
        CHECK_EQUAL(in.front(), other * 1000 + i);
        CHECK_EQUAL(in.back(), other * 1000 + i);
    }
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    constexpr int first_team = 2, second_team = 4;
    MPI_Comm first, second;
    CHECK_OK(MPIX_Threadcomm_init(MPI_COMM_WORLD, first_team, &first));
    CHECK_OK(MPIX_Threadcomm_init(MPI_COMM_WORLD, second_team, &second));
    std::barrier all(first_team + second_team);
    std::vector<std::thread> threads;
    for (int i = 0; i < first_team; ++i) {
        threads.emplace_back([&] {
            for (int round = 0; round < rounds; ++round) {
                CHECK_OK(MPIX_Threadcomm_start(first));
                CHECK_OK(MPI_Barrier(first));
                all.arrive_and_wait();
                CHECK_OK(MPIX_Threadcomm_finish(first));
                all.arrive_and_wait();
            }
        });
    }
    for (int i = 0; i < second_team; ++i) {
        threads.emplace_back([&] {
            for (int round = 0; round < rounds; ++round) {
                all.arrive_and_wait();
                CHECK_OK(MPIX_Threadcomm_start(second));
                exchange(second);
                CHECK_OK(MPIX_Threadcomm_finish(second));
                all.arrive_and_wait();
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    CHECK_OK(MPIX_Threadcomm_free(&first));
    CHECK_OK(MPIX_Threadcomm_free(&second));
    return finish();
}
