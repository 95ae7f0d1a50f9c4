// SPDX-License-Identifier: BSD-3-Clause
// Threads that share cores do not wait for each other by polling. The time of the processor counts, so that other work
// of the machine makes no difference.
#include "tests/threadcomm/region.h"

#include <sched.h>

#include <array>
#include <barrier>
#include <ctime>
#include <thread>

namespace {

constexpr int barriers = 10'000;
constexpr std::clock_t limit = CLOCKS_PER_SEC / 2;

// The threads that the calling one starts from now on may run on so many of its cores. false: there are fewer.
bool run_on(int count) {
    static const cpu_set_t all = [] {
        cpu_set_t cores;
        CHECK(sched_getaffinity(0, sizeof cores, &cores) == 0);
        return cores;
    }();
    cpu_set_t chosen;
    CPU_ZERO(&chosen);
    for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&chosen) < count; ++core) {
        if (CPU_ISSET(core, &all)) {
            CPU_SET(core, &chosen);
        }
    }
    CHECK(sched_setaffinity(0, sizeof chosen, &chosen) == 0);
    return CPU_COUNT(&chosen) == count;
}

void synchronize(const Here& here) {
    for (int i = 0; i < barriers; ++i) {
        CHECK_OK(MPI_Barrier(here.comm));
    }
}

// As a process that mpirun has bound to one core: a barrier took 215 us of the core instead of 2.
void check_one_core() {
    run_on(1);
    in_region(2, true, [](const Here& here) {
        CHECK_OK(MPI_Barrier(here.comm));
        const std::clock_t begin = std::clock();
        synchronize(here);
        CHECK(std::clock() - begin < limit);
    });
}

// No thread communicator has more threads than there are cores, but all together have: a barrier took 170 us of them
// instead of 3.
void check_several_at_once() {
    if (!run_on(2)) {
        return;
    }
    std::array<MPI_Comm, 3> comms;
    std::vector<std::thread> regions;
    // Threads of one alone would spin, and share the cores with other programs.
    std::vector<std::clock_t> times;
    times.reserve(2);
    std::barrier all_active(3 * 2, [&times]() noexcept { times.push_back(std::clock()); });
    for (MPI_Comm& comm : comms) {
        CHECK_OK(MPIX_Threadcomm_init(MPI_COMM_WORLD, 2, &comm));
        regions.emplace_back([comm, &all_active] {
            run_threads(comm, 2, [&all_active](const Here& here) {
                all_active.arrive_and_wait();
                synchronize(here);
                all_active.arrive_and_wait();
            });
        });
    }
    for (std::thread& region : regions) {
        region.join();
    }
    CHECK(times[1] - times[0] < limit);
    for (MPI_Comm& comm : comms) {
        CHECK_OK(MPIX_Threadcomm_free(&comm));
    }
}

} // namespace

int main() {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check_one_core();
    check_several_at_once();
    return finish();
}
