// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>

namespace [[gnu::visibility("default")]] patchbay {

// A mutex that costs one predictable branch below MPI_THREAD_MULTIPLE. It spins briefly, then sleeps in the kernel.
// Not recursive. Satisfies the standard's Lockable requirements, so std::lock_guard and std::unique_lock work on it.
class ProgressLock {
public:
    explicit ProgressLock(bool threaded = false) noexcept : _threaded(threaded) {}
    ProgressLock(const ProgressLock&) = delete;
    ProgressLock& operator=(const ProgressLock&) = delete;

    // From now on several threads may call. Only while nobody holds the lock; cannot be undone.
    void enable_threads() noexcept { _threaded = true; }
    bool threaded() const noexcept { return _threaded; }

    bool try_lock() noexcept {
        if (!_threaded) {
            return true;
        }
        std::uint32_t expected = unlocked;
        return _state.compare_exchange_strong(expected, locked, std::memory_order_acquire,
                                              std::memory_order_relaxed);
    }

    void lock() noexcept {
        if (!try_lock()) [[unlikely]] {
            lock_contended();
        }
    }

    void unlock() noexcept {
        if (_threaded && _state.exchange(unlocked, std::memory_order_release) == contended) [[unlikely]] {
            wake_one();
        }
    }

private:
    static constexpr std::uint32_t unlocked = 0, locked = 1, contended = 2;
    void lock_contended() noexcept;
    void wake_one() noexcept;

    std::atomic<std::uint32_t> _state{unlocked};
    bool _threaded;
};

} // namespace patchbay
