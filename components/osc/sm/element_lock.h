// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>

namespace patchbay::osc::sm {

// The lock of a member's memory for accumulates, held for one operation at a time by any thread of any member.
// Zero-filled memory is a free lock. It is not fair: with more processes than cores, a lock that is given to a process
// that does not run stops all others for as long. A release rings one member that waits, in turn.
//
// `wants` counts for each member its threads that wait. `wait` and `ring` are as in rw_lock.h.
class alignas(64) ElementLock {
public:
    // Both take one locked instruction together without contention.
    bool try_lock(std::uint32_t rank) noexcept {
        std::uint32_t free = 0;
        return _holder.compare_exchange_strong(free, rank + 1, std::memory_order_acquire, std::memory_order_relaxed);
    }
    template <class Ring>
    void unlock(std::uint32_t rank, std::atomic<std::uint32_t>* wants, std::uint32_t size, const Ring& ring) noexcept {
        _holder.store(0, std::memory_order_release);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        if (_waiting.load(std::memory_order_relaxed) != 0) [[unlikely]] {
            ring_one(rank, wants, size, ring);
        }
    }
    template <class Wait>
    int lock(std::uint32_t rank, std::atomic<std::uint32_t>* wants, const Wait& wait) noexcept {
        return try_lock(rank) ? 0 : lock_contended(rank, wants, wait);
    }
    // The rank of the member that has it; -1: it is free.
    std::int64_t holder() const noexcept { return std::int64_t(_holder.load(std::memory_order_relaxed)) - 1; }

private:
    template <class Wait>
    [[gnu::noinline]] int lock_contended(
        std::uint32_t rank, std::atomic<std::uint32_t>* wants, const Wait& wait) noexcept {
        wants[rank].fetch_add(1, std::memory_order_relaxed);
        _waiting.fetch_add(1, std::memory_order_relaxed);
        bool held = false;
        const int code = wait([&] {
            held = held || (_holder.load(std::memory_order_relaxed) == 0 && try_lock(rank));
            return held;
        });
        _waiting.fetch_sub(1, std::memory_order_relaxed);
        wants[rank].fetch_sub(1, std::memory_order_relaxed);
        return code;
    }
    template <class Ring>
    [[gnu::noinline]] static void ring_one(
        std::uint32_t rank, std::atomic<std::uint32_t>* wants, std::uint32_t size, const Ring& ring) noexcept {
        for (std::uint32_t i = 1; i <= size; ++i) {
            const std::uint32_t member = (rank + i) % size;
            if (wants[member].load(std::memory_order_relaxed) != 0) {
                ring(member);
                return;
            }
        }
    }

    std::atomic<std::uint32_t> _holder;  // rank + 1
    std::atomic<std::uint32_t> _waiting; // threads
};
static_assert(sizeof(ElementLock) == 64);

} // namespace patchbay::osc::sm
