// SPDX-License-Identifier: BSD-3-Clause
// A thread that sleeps in MPI_Win_start or MPI_Win_wait for its own process is woken by the thread that calls
// MPI_Win_post or MPI_Win_complete, and not by the end of its sleep, which is most of a second away.
#include "tests/mpi_check/check.h"

#include <chrono>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// From the beginning of `wakes`, which comes while another thread is in `waits`, to the end of that.
template <class Waits, class Wakes>
Clock::duration latency(const Waits& waits, const Wakes& wakes) {
    Clock::time_point end;
    std::thread waiting([&] {
        waits();
        end = Clock::now();
    });
    std::this_thread::sleep_for(1200ms);
    const auto begin = Clock::now();
    wakes();
    waiting.join();
    return end - begin;
}

} // namespace

int main(int argc, char** argv) {
    int level = 0, rank = 0, memory = 0;
    MPI_Win window;
    MPI_Group world, self;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &rank, &self);
    CHECK_OK(MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_WORLD, &window));
    const auto start =
        latency([&] { CHECK_OK(MPI_Win_start(self, 0, window)); }, [&] { CHECK_OK(MPI_Win_post(self, 0, window)); });
    const auto wait = latency([&] { CHECK_OK(MPI_Win_wait(window)); }, [&] { CHECK_OK(MPI_Win_complete(window)); });
    CHECK(start < 500ms);
    CHECK(wait < 500ms);
    CHECK_OK(MPI_Win_free(&window));
    MPI_Group_free(&world);
    MPI_Group_free(&self);
    return finish();
}
