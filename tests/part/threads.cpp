// SPDX-License-Identifier: BSD-3-Clause
// MPI_THREAD_MULTIPLE: several threads call MPI_Pready of one request in random order, while one waits for it from the
// start, and several threads ask for partitions of the receive. Also from the first start on, when the two sides still
// agree on the messages.
#include "tests/mpi_check/check.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr int threads = 4;

struct Exchange {
    int partitions, count, receive_partitions, tag;
    MPI_Comm comm;
    int next, previous, rank;
};

// Partition i of a sender's round.
int value_of(int sender, int round, int i) {
    return sender * 1000000 + round * 10000 + i % 9973;
}

void mark_every(int first, const std::vector<int>& order, MPI_Request request, const Exchange& with, int round,
    std::vector<int>& data) {
    for (std::size_t i = std::size_t(first); i < order.size(); i += threads) {
        const int partition = order[i];
        for (int k = partition * with.count; k < (partition + 1) * with.count; ++k) {
            data[std::size_t(k)] = value_of(with.rank, round, k);
        }
        CHECK_OK(MPI_Pready(partition, request));
    }
}

void await_every(int first, MPI_Request request, const Exchange& with, int round, const std::vector<int>& data) {
    const int count = int(data.size()) / with.receive_partitions;
    for (int partition = first; partition < with.receive_partitions; partition += threads) {
        int flag = 0;
        while (!flag) {
            CHECK_OK(MPI_Parrived(request, partition, &flag));
        }
        for (int k = partition * count; k < (partition + 1) * count; ++k) {
            if (data[std::size_t(k)] != value_of(with.previous, round, k)) {
                CHECK_EQUAL(data[std::size_t(k)], value_of(with.previous, round, k));
                return;
            }
        }
    }
}

// A new pair of requests for `rounds` rounds. The threads of a round do not wait for those of the receive, so that the
// receive is complete only when all have looked at it.
void run(const Exchange& with, int rounds) {
    std::mt19937 random(unsigned(with.rank * 31 + with.tag));
    const std::size_t ints = std::size_t(with.partitions) * std::size_t(with.count);
    std::vector<int> out(ints), in(ints), order(std::size_t(with.partitions));
    std::iota(order.begin(), order.end(), 0);
    MPI_Request send, receive;
    CHECK_OK(MPI_Psend_init(
        out.data(), with.partitions, with.count, MPI_INT, with.next, with.tag, with.comm, MPI_INFO_NULL, &send));
    CHECK_OK(MPI_Precv_init(in.data(), with.receive_partitions, int(ints) / with.receive_partitions, MPI_INT,
        with.previous, with.tag, with.comm, MPI_INFO_NULL, &receive));
    for (int round = 0; round < rounds; ++round) {
        std::shuffle(order.begin(), order.end(), random);
        CHECK_OK(MPI_Start(&send));
        CHECK_OK(MPI_Start(&receive));
        std::vector<std::thread> running;
        const MPI_Request sending = send, receiving = receive; // MPI_Wait writes to its argument
        for (int i = 0; i < threads; ++i) {
            running.emplace_back([&, i] { mark_every(i, order, sending, with, round, out); });
            running.emplace_back([&, i] { await_every(i, receiving, with, round, in); });
        }
        CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        for (std::thread& thread : running) {
            thread.join();
        }
        CHECK_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Request_free(&send));
    CHECK_OK(MPI_Request_free(&receive));
}

} // namespace

int main(int argc, char** argv) {
    int provided, rank, size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int times = argc > 1 ? std::atoi(argv[1]) : 12;
    const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    for (int i = 0; i < times; ++i) {
        run({64, 16, 32, i, MPI_COMM_WORLD, next, previous, rank}, 2);
    }
    run({64, 4096, 16, 0, MPI_COMM_WORLD, next, previous, rank}, 3);
    // Two threads have a pair of requests each, with the same tag, on different communicators.
    MPI_Comm other;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    std::thread beside([&] { run({96, 100, 8, 3, other, next, previous, rank}, 4); });
    run({96, 100, 8, 3, MPI_COMM_WORLD, next, previous, rank}, 4);
    beside.join();
    MPI_Comm_free(&other);
    return finish();
}
