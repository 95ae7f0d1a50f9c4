// SPDX-License-Identifier: BSD-3-Clause
// Threads construct, use and free windows at the same time, each on a communicator of its own, and lock different
// members of one window at the same time.
#include "tests/mpi_check/check.h"

#include <thread>
#include <vector>

namespace {

constexpr int thread_count = 4;
int rank, size;

void use_own_windows(MPI_Comm comm, int number) {
    for (int round = 0; round < 20; ++round) {
        int* base = nullptr;
        MPI_Win win = MPI_WIN_NULL;
        int value = 100 * number + rank;
        const int next = (rank + 1) % size;
        if ((number + round) % 2 == 0) {
            CHECK_OK(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &base, &win));
        } else {
            CHECK_OK(MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &base, &win));
        }
        CHECK_OK(MPI_Win_fence(0, win));
        CHECK_OK(MPI_Put(&value, 1, MPI_INT, next, 0, 1, MPI_INT, win));
        CHECK_OK(MPI_Win_fence(0, win));
        CHECK_EQUAL(*base, 100 * number + (rank + size - 1) % size);
        CHECK_OK(MPI_Win_free(&win));
    }
}

// Of the threads of a process each adds to the counter of another member.
void count(MPI_Win win, int number) {
    const int target = (rank + number) % size;
    const int one = 1;
    for (int i = 0; i < 50 && number < size; ++i) {
        int before = 0;
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
        CHECK_OK(MPI_Fetch_and_op(&one, &before, MPI_INT, target, 0, MPI_SUM, win));
        CHECK_OK(MPI_Win_unlock(target, win));
    }
}

template <class Body>
void in_threads(const Body& body) {
    std::vector<std::thread> threads;
    for (int number = 0; number < thread_count; ++number) {
        threads.emplace_back([&body, number] { body(number); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

} // namespace

int main() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE) {
        std::printf("SKIPPED: threads: MPI_THREAD_MULTIPLE is not available\n");
        return finish();
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::vector<MPI_Comm> comms(thread_count);
    for (MPI_Comm& comm : comms) {
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    }
    in_threads([&comms](int number) { use_own_windows(comms[std::size_t(number)], number); });
    int* counter = nullptr;
    MPI_Win win;
    CHECK_OK(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &win));
    in_threads([win](int number) { count(win, number); });
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    CHECK_EQUAL(*counter, 50 * (size < thread_count ? size : thread_count));
    CHECK_OK(MPI_Win_unlock(rank, win));
    CHECK_OK(MPI_Win_free(&win));
    for (MPI_Comm& comm : comms) {
        CHECK_OK(MPI_Comm_free(&comm));
    }
    return finish();
}
