// SPDX-License-Identifier: BSD-3-Clause
// MPI_THREAD_MULTIPLE: several threads of each process communicate at once, on their own communicators and on a
// common one with their own tags, blocking most of the time; sizes over the eager limit, self-messages, probes.
#include "tests/mpi_check/asleep.h"
#include "tests/mpi_check/check.h"

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

int rank, size;
std::atomic<int> bad{0};

void expect(bool fine) {
    if (!fine) {
        ++bad;
    }
}

void exchange(MPI_Comm comm, int tag, int rounds, int thread) {
    const int next = (rank + 1) % size;
    const int previous = (rank + size - 1) % size;
    for (int i = 0; i < rounds; ++i) {
        const int n = i % 7 == 0 ? 20000 : i % 3 == 0 ? 900 : 2;
        std::vector<int> out(std::size_t(n), rank * 1000 + thread * 100 + i), in(std::size_t(n), -1);
        const int from_previous = previous * 1000 + thread * 100 + i;
        MPI_Status status;
        if (i % 2 == 0) {
            MPI_Request request;
            MPI_Irecv(in.data(), n, MPI_INT, previous, tag, comm, &request);
            MPI_Send(out.data(), n, MPI_INT, next, tag, comm);
            MPI_Wait(&request, &status);
        } else {
            MPI_Request request;
            MPI_Isend(out.data(), n, MPI_INT, next, tag, comm, &request);
            MPI_Message message;
            MPI_Mprobe(MPI_ANY_SOURCE, tag, comm, &message, &status);
            MPI_Mrecv(in.data(), n, MPI_INT, &message, &status);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        expect(in.front() == from_previous && in.back() == from_previous && status.MPI_TAG == tag);
    }
}

} // namespace

int main(int argc, char** argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 60;
    constexpr int threads = 4;
    std::vector<MPI_Comm> comms(threads);
    for (MPI_Comm& comm : comms) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    }
    std::vector<std::thread> running;
    for (int i = 0; i < threads; ++i) {
        running.emplace_back([&, i] {
            exchange(comms[std::size_t(i)], 7, rounds, i);
            exchange(MPI_COMM_WORLD, i, rounds, i);
        });
    }
    for (std::thread& thread : running) {
        thread.join();
    }
    // One thread sleeps in a receive until another thread of the same process sends the message.
    std::atomic<pid_t> waiting{0};
    std::thread waiter([&] {
        int value = 0;
        waiting = own_thread_id();
        MPI_Recv(&value, 1, MPI_INT, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        expect(value == 42);
    });
    wait_until_asleep(waiting);
    const int number = 42;
    MPI_Send(&number, 1, MPI_INT, 0, 5, MPI_COMM_SELF);
    waiter.join();
    // Another thread cancels a receive in which a thread waits.
    MPI_Request request;
    int never;
    MPI_Irecv(&never, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &request);
    MPI_Request copy = request;
    waiting = 0;
    std::thread canceller([&] {
        wait_until_asleep(waiting);
        MPI_Cancel(&copy);
    });
    MPI_Status status;
    int flag = 0;
    waiting = own_thread_id();
    MPI_Wait(&request, &status);
    canceller.join();
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
    for (MPI_Comm& comm : comms) {
        MPI_Comm_free(&comm);
    }
    CHECK(bad == 0);
    return finish();
}
