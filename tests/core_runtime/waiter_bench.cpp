// SPDX-License-Identifier: BSD-3-Clause
// The waiting policy alone, without MPI: RANKS processes on CORES cores wait in a central-counter barrier over shared
// memory, each waiting with wait_until. Prints one line in the format of our benches.
//   waiter_bench [RANKS [CORES [ROUNDS [spin_us [yield_us]]]]]
#include "core/progress/waiter.h"

#include <cstdio>
#include <cstdlib>
#include <new>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {
using namespace patchbay;
using Clock = std::chrono::steady_clock;

struct Shared {
    alignas(64) std::atomic<unsigned> arrived;
    alignas(64) std::atomic<unsigned> round;
    alignas(64) double microseconds;
    Doorbell bells[256];
};

void barrier(Shared& shared, Progress& progress, unsigned ranks, unsigned round) {
    if (shared.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == ranks * (round + 1)) {
        shared.round.store(round + 1, std::memory_order_release);
        for (unsigned peer = 0; peer < ranks; ++peer) {
            shared.bells[peer].notify();
        }
    } else {
        wait_until(progress, [&] { return shared.round.load(std::memory_order_acquire) > round; });
    }
}

void run_rank(Shared& shared, unsigned rank, unsigned ranks, unsigned rounds, const WaitPolicy& policy) {
    Progress progress(false, policy);
    progress.set_doorbell(&shared.bells[rank]);
    unsigned warm_up = rounds / 10 + 1;
    for (unsigned round = 0; round < warm_up; ++round) {
        barrier(shared, progress, ranks, round);
    }
    Clock::time_point begin = Clock::now();
    for (unsigned round = warm_up; round < warm_up + rounds; ++round) {
        barrier(shared, progress, ranks, round);
    }
    if (rank == 0) {
        shared.microseconds = std::chrono::duration<double, std::micro>(Clock::now() - begin).count() / rounds;
    }
}
} // namespace

int main(int argc, char** argv) {
    auto number = [&](int index, unsigned otherwise) {
        return argc > index ? unsigned(std::atoi(argv[index])) : otherwise;
    };
    unsigned ranks = number(1, 16);
    unsigned cores = number(2, 2);
    unsigned rounds = number(3, 2000);
    if (ranks < 2 || ranks > 256 || cores < 1) {
        std::fprintf(stderr, "waiter_bench: 2 to 256 ranks, at least 1 core\n");
        return 2;
    }
    WaitPolicy defaults;
    WaitPolicy policy = WaitPolicy::make(std::chrono::microseconds(number(4, unsigned(defaults.spin.count() / 1000))),
        std::chrono::microseconds(number(5, unsigned(defaults.yield.count() / 1000))), true, ranks > cores);
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        std::perror("waiter_bench: mmap");
        return 1;
    }
    Shared& shared = *::new (memory) Shared;
    cpu_set_t usable;
    CPU_ZERO(&usable);
    for (unsigned core = 0; core < cores; ++core) {
        CPU_SET(core, &usable);
    }
    sched_setaffinity(0, sizeof usable, &usable);
    for (unsigned rank = 0; rank < ranks; ++rank) {
        if (fork() == 0) {
            run_rank(shared, rank, ranks, rounds, policy);
            _exit(0);
        }
    }
    int status = 0;
    bool good = true;
    while (wait(&status) > 0) {
        good = good && status == 0;
    }
    std::printf("waiter_barrier ranks=%u cores=%u rounds=%u us=%.2f\n", ranks, cores, rounds, shared.microseconds);
    return good ? 0 : 1;
}
