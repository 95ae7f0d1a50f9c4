// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>

namespace patchbay::osc::sm {

// Which member of a window waits for which ticket of a lock: word ticket % size is 0 or the rank + 1 of that member.
// Each member has one ticket of a lock at a time, so that no two that wait have the same word.
struct TicketQueue {
    std::atomic<std::uint32_t>* waiter;
    std::uint32_t size;
    std::uint32_t rank; // of the calling process
};

// A reader-writer lock between processes, first come, first served: readers that follow each other hold it together.
// Zero-filled memory is a free lock. Each member takes it once at a time.
//
// Everyone takes a ticket from _users. _read is the ticket up to which readers may enter: a reader that enters lets the
// next ticket in, a writer does so when it leaves. _write counts those who have left: a writer enters when all before
// it have. A reader without contention executes two locked instructions, and so does a writer.
//
// Who changes _read or _write rings the member that waits for it. A waiter names itself in the queue before it looks
// again and sleeps; Doorbell says why either the waiter sees the change, or the other process sees its name.
//
// `wait(done)` waits until done() is true, and returns an MPI code: after an error the ticket is lost, and the lock is
// held for ever. `ring(rank)` ends the sleep of that member.
class alignas(64) RwLock {
public:
    template <class Wait, class Ring>
    int lock_shared(const TicketQueue& queue, const Wait& wait, const Ring& ring) noexcept {
        const std::uint32_t ticket = _users.fetch_add(1, std::memory_order_acquire);
        if (_read.load(std::memory_order_acquire) != ticket) [[unlikely]] {
            if (const int code = wait_for(_read, ticket, queue, wait); code != 0) {
                return code;
            }
        }
        _read.store(ticket + 1, std::memory_order_release);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        if (_users.load(std::memory_order_relaxed) != ticket + 1) [[unlikely]] {
            ring_waiter(queue, ticket + 1, ring);
        }
        return 0;
    }
    template <class Ring>
    void unlock_shared(const TicketQueue& queue, const Ring& ring) noexcept {
        const std::uint32_t left = _write.fetch_add(1, std::memory_order_release) + 1;
        if (_users.load(std::memory_order_relaxed) != left) [[unlikely]] {
            ring_waiter(queue, left, ring);
        }
    }

    template <class Wait>
    int lock_exclusive(const TicketQueue& queue, const Wait& wait) noexcept {
        const std::uint32_t ticket = _users.fetch_add(1, std::memory_order_acquire);
        if (_write.load(std::memory_order_acquire) != ticket) [[unlikely]] {
            return wait_for(_write, ticket, queue, wait);
        }
        return 0;
    }
    template <class Ring>
    void unlock_exclusive(const TicketQueue& queue, const Ring& ring) noexcept {
        const std::uint32_t next = _read.load(std::memory_order_relaxed) + 1;
        // In this order: a reader that enters now may have left before this process is counted.
        _read.store(next, std::memory_order_release);
        const std::uint32_t left = _write.fetch_add(1, std::memory_order_release) + 1;
        if (_users.load(std::memory_order_relaxed) != next) [[unlikely]] {
            ring_waiter(queue, next, ring); // a reader, or a writer if left == next
            if (left != next) {
                ring_waiter(queue, left, ring);
            }
        }
    }

    // For tests.
    std::uint32_t tickets() const noexcept { return _users.load(std::memory_order_acquire); }

private:
    template <class Wait>
    static int wait_for(
        std::atomic<std::uint32_t>& turn, std::uint32_t ticket, const TicketQueue& queue, const Wait& wait) noexcept {
        std::atomic<std::uint32_t>& name = queue.waiter[ticket % queue.size];
        name.store(queue.rank + 1, std::memory_order_release);
        const int code = wait([&] { return turn.load(std::memory_order_acquire) == ticket; });
        // Before this member lets others in: only then another ticket can have the same word.
        name.store(0, std::memory_order_relaxed);
        return code;
    }
    template <class Ring>
    static void ring_waiter(const TicketQueue& queue, std::uint32_t ticket, const Ring& ring) noexcept {
        std::atomic_signal_fence(std::memory_order_seq_cst);
        const std::uint32_t name = queue.waiter[ticket % queue.size].load(std::memory_order_acquire);
        if (name != 0 && name <= queue.size) {
            ring(name - 1);
        }
    }

    std::atomic<std::uint32_t> _users; // tickets that have been taken
    std::atomic<std::uint32_t> _read;  // the reader with this ticket may enter
    std::atomic<std::uint32_t> _write; // how many have left; the writer with this ticket may enter
};
static_assert(sizeof(RwLock) == 64);

} // namespace patchbay::osc::sm
