// SPDX-License-Identifier: BSD-3-Clause
// A thread that sleeps in MPI_Wait of a partitioned send goes on when another thread has made the partitions ready, and
// not only when its sleep, of a second at most, ends. The receiver does nothing that would wake it.
#include "tests/mpi_check/check.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <vector>

namespace {

constexpr int partitions = 4;
constexpr int rounds = 5;

// Seconds from MPI_Pready_range to the end of MPI_Wait.
double time_of_wait(MPI_Request* request) {
    double ready = 0;
    std::thread other([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(250)); // the wait sleeps
        ready = MPI_Wtime();
        CHECK_OK(MPI_Pready_range(0, partitions - 1, *request));
    });
    CHECK_OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    const double end = MPI_Wtime();
    other.join();
    return end - ready;
}

void exchange(int rank, int bytes) {
    char* data = nullptr;
    CHECK_OK(MPI_Alloc_mem(MPI_Aint(partitions) * bytes, MPI_INFO_NULL, static_cast<void*>(&data)));
    std::fill_n(data, partitions * bytes, char(rank == 0 ? 1 : 0));
    MPI_Request request;
    if (rank == 0) {
        CHECK_OK(MPI_Psend_init(data, partitions, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    } else {
        CHECK_OK(MPI_Precv_init(data, partitions, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    }
    std::array<double, rounds> times{};
    for (double& time : times) {
        CHECK_OK(MPI_Start(&request));
        if (rank == 0) {
            time = time_of_wait(&request);
        } else {
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            CHECK_EQUAL(data[partitions * bytes - 1], 1);
            std::this_thread::sleep_for(std::chrono::milliseconds(700)); // until the wait has ended
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    std::sort(times.begin(), times.end());
    CHECK(times[rounds / 2] < 0.2); // a busy machine may delay some
    CHECK_OK(MPI_Request_free(&request));
    CHECK_OK(MPI_Free_mem(data));
}

} // namespace

int main(int argc, char** argv) {
    int level = 0, rank = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    exchange(rank, 100);
    return finish();
}
