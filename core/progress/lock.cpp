// SPDX-License-Identifier: BSD-3-Clause
#include "core/progress/lock.h"

#include "core/progress/futex.h"

namespace patchbay {

namespace {
// A thread holds the lock for well under a microsecond, so a waiting thread spins for about one before it calls the
// kernel, which costs as much as hundreds of loads.
constexpr int looks_before_sleep = 40;

void pause_core() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}
} // namespace

void ProgressLock::lock_contended() noexcept {
    for (int look = 0; look < looks_before_sleep; ++look) {
        pause_core();
        if (_state.load(std::memory_order_relaxed) == unlocked && try_lock_among_threads()) {
            return;
        }
    }
    // A thread that has slept cannot know whether others still sleep, so it leaves the lock in the contended state.
    while (_state.exchange(contended, std::memory_order_acquire) != unlocked) {
        futex::wait(_state, contended, futex::Scope::process, std::chrono::nanoseconds::max());
    }
}

void ProgressLock::wake_one() noexcept {
    futex::wake(_state, 1, futex::Scope::process);
}

} // namespace patchbay
