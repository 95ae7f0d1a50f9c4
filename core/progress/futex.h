// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <chrono>
#include <climits>
#include <cstdint>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace patchbay::futex {

// A futex word that only this process sees is cheaper to look up in the kernel than one in shared memory.
enum class Scope : int { shared = 0, process = FUTEX_PRIVATE_FLAG };

// Sleeps while `word` is `expected`. false: `limit` has passed or a signal was handled.
inline bool wait(
    std::atomic<std::uint32_t>& word, std::uint32_t expected, Scope scope, std::chrono::nanoseconds limit) noexcept {
    timespec span{time_t(limit.count() / 1'000'000'000), long(limit.count() % 1'000'000'000)};
    timespec* until = limit == std::chrono::nanoseconds::max() ? nullptr : &span;
    if (syscall(SYS_futex, &word, FUTEX_WAIT | int(scope), expected, until, nullptr, 0) == 0) {
        return true;
    }
    return word.load(std::memory_order_acquire) != expected;
}

inline void wake(std::atomic<std::uint32_t>& word, int count, Scope scope) noexcept {
    syscall(SYS_futex, &word, FUTEX_WAKE | int(scope), count, nullptr, nullptr, 0);
}

} // namespace patchbay::futex
