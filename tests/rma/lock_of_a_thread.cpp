// SPDX-License-Identifier: BSD-3-Clause
// A thread that waits for a lock holds up no other thread, which takes another lock. Rank 1 keeps the lock for which
// the first thread of rank 0 waits until the second one has been served.
#include "tests/mpi_check/check.h"

#include <chrono>
#include <thread>

namespace {

const int one = 1;

void put(int target, MPI_Win window) {
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window));
    CHECK_OK(MPI_Put(&one, 1, MPI_INT, target, 0, 1, MPI_INT, window));
    CHECK_OK(MPI_Win_unlock(target, window));
}

void keep(MPI_Win window) {
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, window));
    CHECK_OK(MPI_Put(&one, 1, MPI_INT, 2, 0, 1, MPI_INT, window));
    CHECK_OK(MPI_Win_flush(2, window));
    CHECK_OK(MPI_Send(nullptr, 0, MPI_INT, 0, 0, MPI_COMM_WORLD));
    CHECK_OK(MPI_Recv(nullptr, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Win_unlock(2, window));
}

void lock_in_two_threads(MPI_Win window) {
    CHECK_OK(MPI_Recv(nullptr, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    std::thread waits([&] { put(2, window); });
    std::thread served([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        put(3, window);
        CHECK_OK(MPI_Send(nullptr, 0, MPI_INT, 1, 0, MPI_COMM_WORLD));
    });
    waits.join();
    served.join();
}

} // namespace

int main(int argc, char** argv) {
    int level = 0, rank = 0, memory = 0;
    MPI_Win window;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    CHECK_EQUAL(level, MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK_OK(MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_WORLD, &window));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        lock_in_two_threads(window);
    } else if (rank == 1) {
        keep(window);
    }
    CHECK_OK(MPI_Win_free(&window));
    CHECK_EQUAL(memory, rank > 1 ? 1 : 0);
    return finish();
}
