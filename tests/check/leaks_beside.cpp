// SPDX-License-Identifier: BSD-3-Clause
// Threads make and free info objects, which they may do at any time, while sessions begin and end with mpi_check=leaks.
#include "tests/mpi_check/check.h"

#include <atomic>
#include <thread>
#include <vector>

int main() {
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&stop] {
            while (!stop) {
                MPI_Info info;
                CHECK_OK(MPI_Info_create(&info));
                CHECK_OK(MPI_Info_free(&info));
            }
        });
    }
    MPI_Info level;
    MPI_Info_create(&level);
    MPI_Info_set(level, "thread_level", "MPI_THREAD_MULTIPLE");
    for (int i = 0; i < 20; ++i) {
        MPI_Session session;
        CHECK_OK(MPI_Session_init(level, MPI_ERRORS_RETURN, &session));
        CHECK_OK(MPI_Session_finalize(&session));
    }
    stop = true;
    for (std::thread& thread : threads) {
        thread.join();
    }
    MPI_Info_free(&level);
    return failures();
}
