// SPDX-License-Identifier: BSD-3-Clause
// The threads of a process that is bound to one core, as by mpirun --bind-to core, do not wait for each other by
// polling: a barrier took 215 us of the core instead of 2. The time of the processor counts, so that other work of the
// machine makes no difference.
#include "tests/threadcomm/region.h"

#include <sched.h>

#include <ctime>

int main() {
    constexpr int barriers = 2'000;
    constexpr std::clock_t limit = CLOCKS_PER_SEC / 5;
    MPI_Init(nullptr, nullptr);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    cpu_set_t cores, one;
    CPU_ZERO(&one);
    CHECK(sched_getaffinity(0, sizeof cores, &cores) == 0);
    for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core) {
        if (CPU_ISSET(core, &cores)) {
            CPU_SET(core, &one);
        }
    }
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0); // the threads that follow inherit it
    in_region(2, true, [](const Here& here) {
        CHECK_OK(MPI_Barrier(here.comm));
        const std::clock_t begin = std::clock();
        for (int i = 0; i < barriers; ++i) {
            CHECK_OK(MPI_Barrier(here.comm));
        }
        CHECK(std::clock() - begin < limit);
    });
    return finish();
}
