// SPDX-License-Identifier: BSD-3-Clause
// Several threads, each with a communicator of its own, start, test and complete nonblocking and persistent collectives
// at the same time.
#include "tests/mpi_check/check.h"

#include <cstddef>
#include <thread>
#include <vector>

namespace {

constexpr int thread_count = 3;
constexpr int turns = 60;

void work(MPI_Comm comm, int seed) {
    int size = 0;
    int rank = 0;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    constexpr int number = 6;
    constexpr int count = 500;
    std::vector<int> send(count, rank + seed);
    std::vector<int> kept(count, -1);
    MPI_Request persistent;
    CHECK_OK(MPI_Allreduce_init(send.data(), kept.data(), count, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &persistent));
    const int sum = size * (size - 1) / 2 + size * seed;
    for (int turn = 0; turn < turns; ++turn) {
        std::vector<std::vector<int>> results(number, std::vector<int>(count, -1));
        std::vector<MPI_Request> requests(number + 1);
        for (std::size_t k = 0; k < number; ++k) {
            CHECK_OK(MPI_Iallreduce(send.data(), results[k].data(), count, MPI_INT, MPI_SUM, comm, &requests[k]));
        }
        kept.assign(count, -1);
        requests[number] = persistent;
        CHECK_OK(MPI_Start(&requests[number]));
        if (turn % 2 == 0) {
            CHECK_OK(MPI_Waitall(number + 1, requests.data(), MPI_STATUSES_IGNORE));
        } else {
            for (int done = 0; !done;) {
                CHECK_OK(MPI_Testall(number + 1, requests.data(), &done, MPI_STATUSES_IGNORE));
            }
        }
        for (const std::vector<int>& result : results) {
            CHECK(result == std::vector<int>(count, sum));
        }
        CHECK(kept == std::vector<int>(count, sum));
    }
    CHECK_OK(MPI_Request_free(&persistent));
}

} // namespace

int main(int argc, char** argv) {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided == MPI_THREAD_MULTIPLE) {
        std::vector<MPI_Comm> comms(thread_count);
        std::vector<std::thread> threads;
        for (MPI_Comm& comm : comms) {
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        }
        for (std::size_t i = 0; i < comms.size(); ++i) {
            threads.emplace_back(work, comms[i], int(i));
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        for (MPI_Comm& comm : comms) {
            MPI_Comm_free(&comm);
        }
    } else {
        std::puts("SKIPPED: threads: no MPI_THREAD_MULTIPLE");
    }
    return finish();
}
