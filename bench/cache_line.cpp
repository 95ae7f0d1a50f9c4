// SPDX-License-Identifier: BSD-3-Clause
// The limit with which every latency is compared: one cache line handed over and back between two processes, each on
// a core of its own, without any other work.
#include "metric.h"

#include <atomic>
#include <cstdint>
#include <ctime>
#include <new>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

struct alignas(64) Line {
    std::atomic<std::uint64_t> word;
};

double now() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

// Binds to the index-th core that this process may use.
void bind_to(int index) {
    cpu_set_t allowed;
    sched_getaffinity(0, sizeof allowed, &allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &allowed) && index-- == 0) {
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            sched_setaffinity(0, sizeof one, &one);
            return;
        }
    }
}

void hand_over(Line& out, Line& in, bool first, std::uint64_t from, std::uint64_t rounds) {
    for (std::uint64_t i = from; i < from + rounds; ++i) {
        if (first) {
            out.word.store(i, std::memory_order_release);
        }
        while (in.word.load(std::memory_order_acquire) != i) {
        }
        if (!first) {
            out.word.store(i, std::memory_order_release);
        }
    }
}

} // namespace

int main() {
    constexpr int chunks = 21;
    constexpr std::uint64_t rounds = 100000;
    void* memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        std::perror("cache_line: mmap");
        return 1;
    }
    auto* lines = static_cast<Line*>(memory);
    Line& there = *new (&lines[0]) Line{};
    Line& back = *new (&lines[2]) Line{};
    const pid_t peer = fork();
    if (peer < 0) {
        std::perror("cache_line: fork");
        return 1;
    }
    if (peer == 0) {
        bind_to(1);
        hand_over(back, there, false, 1, rounds * (chunks + 1));
        _exit(0);
    }
    bind_to(0);
    hand_over(there, back, true, 1, rounds);
    double samples[chunks];
    for (int k = 0; k < chunks; ++k) {
        const double start = now();
        hand_over(there, back, true, 1 + rounds * std::uint64_t(k + 1), rounds);
        samples[k] = (now() - start) / double(rounds) / 2 * 1e6;
    }
    waitpid(peer, nullptr, 0);
    metric("cache_line_one_way", metric_median(samples, chunks), "us", "lower");
    return 0;
}
