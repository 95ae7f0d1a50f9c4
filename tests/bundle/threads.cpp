// SPDX-License-Identifier: BSD-3-Clause
// Several threads start and complete bundles of their own at the same time; whichever thread polls ends the rounds of
// all.
#include "tests/mpi_check/check.h"

#include <array>
#include <mpix.h>
#include <thread>
#include <vector>

namespace {

constexpr int threads = 4;
constexpr int rounds = 300;
constexpr int words = 200;

struct Worker {
    int rank, size, index;
    MPI_Comm comm = MPI_COMM_NULL;

    void run() {
        const int next = (rank + 1) % size;
        const int previous = (rank + size - 1) % size;
        std::vector<int> out(words), in(words);
        int one = 0, sum = 0;
        std::array<MPI_Request, 3> members{};
        MPI_Request bundle = MPI_REQUEST_NULL;
        CHECK_OK(MPI_Recv_init(in.data(), words, MPI_INT, previous, index, MPI_COMM_WORLD, &members[0]));
        CHECK_OK(MPI_Send_init(out.data(), words, MPI_INT, next, index, MPI_COMM_WORLD, &members[1]));
        CHECK_OK(MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &members[2]));
        CHECK_OK(MPIX_Bundle_init(3, members.data(), MPI_INFO_NULL, &bundle));
        for (int round = 0; round < rounds; ++round) {
            one = round + index;
            for (int i = 0; i < words; ++i) {
                out[std::size_t(i)] = round + i + rank;
            }
            CHECK_OK(MPI_Start(&bundle));
            if (round % 2 == 0) {
                CHECK_OK(MPI_Wait(&bundle, MPI_STATUS_IGNORE));
            } else {
                for (int done = 0; done == 0;) {
                    CHECK_OK(MPI_Test(&bundle, &done, MPI_STATUS_IGNORE));
                }
            }
            CHECK_EQUAL(sum, size * (round + index));
            CHECK_EQUAL(in[0], round + previous);
            CHECK_EQUAL(in[words - 1], round + previous + words - 1);
        }
        CHECK_OK(MPI_Request_free(&bundle));
        for (MPI_Request& member : members) {
            CHECK_OK(MPI_Request_free(&member));
        }
    }
};

} // namespace

int main() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
    CHECK_EQUAL(provided, MPI_THREAD_MULTIPLE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    std::array<Worker, threads> workers{};
    for (int i = 0; i < threads; ++i) {
        Worker& worker = workers[std::size_t(i)];
        worker.index = i;
        MPI_Comm_rank(MPI_COMM_WORLD, &worker.rank);
        MPI_Comm_size(MPI_COMM_WORLD, &worker.size);
        MPI_Comm_dup(MPI_COMM_WORLD, &worker.comm);
    }
    std::vector<std::thread> running;
    for (Worker& worker : workers) {
        running.emplace_back([&worker] { worker.run(); });
    }
    for (std::thread& thread : running) {
        thread.join();
    }
    for (Worker& worker : workers) {
        MPI_Comm_free(&worker.comm);
    }
    return finish();
}
