// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/thread_level_upgrade.h"

#include <atomic>
#include <cstdint>

namespace [[gnu::visibility("default")]] patchbay {

// A mutex that costs two stores while a single thread uses the library (SingleThreadSection). With several threads it
// spins briefly and then sleeps in the kernel. Not recursive. Meets the standard's Lockable requirements, so that
// std::lock_guard and std::unique_lock work on it.
class ProgressLock {
public:
    explicit ProgressLock(bool threaded = false) noexcept
        : _section(threaded) {}
    // Begins to lock when `threads` is turned on, which may be at any moment.
    explicit ProgressLock(ThreadLevelUpgrade& threads)
        : _section(threads) {}
    ProgressLock(const ProgressLock&) = delete;
    ProgressLock& operator=(const ProgressLock&) = delete;

    bool try_lock() noexcept { return _section.enter() || try_lock_among_threads(); }

    void lock() noexcept { (void)acquire(); }

    void unlock() noexcept {
        // Read before the section is left: after that another thread may hold the lock at once.
        release(_state.load(std::memory_order_relaxed) == unlocked);
    }

    // The same, cheaper, for a caller that passes the result of acquire() to release().
    bool acquire() noexcept {
        if (_section.enter()) [[likely]] {
            return true;
        }
        if (!try_lock_among_threads()) [[unlikely]] {
            lock_contended();
        }
        return false;
    }
    void release(bool alone) noexcept {
        if (alone) [[likely]] {
            _section.leave();
        } else if (_state.exchange(unlocked, std::memory_order_release) == contended) [[unlikely]] {
            wake_one();
        }
    }

private:
    static constexpr std::uint32_t unlocked = 0, locked = 1, contended = 2;
    bool try_lock_among_threads() noexcept {
        std::uint32_t expected = unlocked;
        return _state.compare_exchange_strong(expected, locked, std::memory_order_acquire, std::memory_order_relaxed);
    }
    void lock_contended() noexcept;
    void wake_one() noexcept;

    SingleThreadSection _section;
    std::atomic<std::uint32_t> _state{unlocked};
};

} // namespace patchbay
