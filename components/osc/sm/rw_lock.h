// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/pause.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <utility>
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace patchbay::osc::sm {

// How often a writer may take a lock back while others wait, and for how long in all: a lock that goes from one to the
// next each time goes at the pace of the cache lines between them, and where processes share cores, so that the next
// one seldom runs, at the pace of the scheduler. What is done with the lock held may take longer than that.
struct InARow {
    std::uint32_t most;
    std::chrono::nanoseconds longest; // 0: until the next one has ended its first looks (TicketQueue)
};
inline constexpr InARow on_own_cores{8, std::chrono::nanoseconds(0)};
inline constexpr InARow on_shared_cores{8, std::chrono::microseconds(50)};

// Which member of a window waits for which ticket of a lock: word ticket % size is 0 or the rank + 1 of that member.
// Each member has one ticket of a lock at a time, so that no two that wait have the same word.
struct TicketQueue {
    std::atomic<std::uint32_t>* waiter;
    std::uint32_t size;
    std::uint32_t rank; // of the calling process
    InARow in_a_row;    // of the calling process
    // How often one that waits looks before it names itself, which costs the one that leaves a cache miss.
    std::uint32_t first_looks = 0;
};
// Between two of these looks it pauses, up to so often: each look takes the cache line from the writer.
inline constexpr std::uint32_t most_pauses = 8;

// What a member knows of a lock from one call to the next.
struct Turn {
    std::uint32_t ticket = 0; // of a writer
    bool left_late = false;   // by this member, as a writer; another one may have ended that
};

// A reader-writer ticket lock between processes, first come, first served: readers that follow each other hold it
// together. Zero-filled memory is a free lock. Each member takes it once at a time.
//
// Each member takes a ticket from _users. _admitted.reader is the ticket up to which readers may enter: a reader that
// enters lets the next ticket in, a writer does so when it leaves. _admitted.writer counts those who have left: a
// writer enters when all before it have. Both words belong to the writer while it has the lock, and it writes them by
// one plain store: a locked instruction would first wait for the stores of the program before it, and the next one in
// the queue for two cache lines, one after the other.
//
// A writer that leaves while others wait may leave later: it names itself in _left_late, and that state is ended either
// by the writer, which then has the lock again, with its old ticket, or by the first of the queue (this may be the
// writer, with another ticket), which does what remains to be done, and enters. The first of the queue waits for
// InARow::most times the others at most. A member that has not left late does not look at _left_late before it enters
// the queue: the look would fetch the cache line once more.
//
// A member that changes one of these words rings the one that waits for it. A waiter names itself in the queue before
// it looks again and sleeps; Doorbell says why either the waiter sees the change, or the other process sees its name.
//
// `wait(done)` waits until done() is true, and returns an MPI code: after an error the ticket is lost, and the lock is
// held for ever. `ring(rank)` ends the sleep of that member.
class alignas(64) RwLock {
public:
    template <class Wait, class Ring>
    int lock_shared(const TicketQueue& queue, const Wait& wait, Turn& turn, const Ring& ring) noexcept {
        if (std::exchange(turn.left_late, false)) [[unlikely]] {
            leave_now(queue, ring);
        }
        const std::uint32_t ticket = _users.fetch_add(1, std::memory_order_acquire);
        if (_admitted.reader.load(std::memory_order_acquire) != ticket) [[unlikely]] {
            if (const int code = wait_for(_admitted.reader, ticket, queue, wait); code != 0) {
                return code;
            }
        }
        _admitted.reader.store(ticket + 1, std::memory_order_release);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        if (_users.load(std::memory_order_relaxed) != ticket + 1) [[unlikely]] {
            ring_waiter(queue, ticket + 1, ring);
        }
        return 0;
    }
    template <class Ring>
    void unlock_shared(const TicketQueue& queue, const Ring& ring) noexcept {
        const std::uint32_t left = _admitted.writer.fetch_add(1, std::memory_order_release) + 1;
        if (_users.load(std::memory_order_relaxed) != left) [[unlikely]] {
            ring_waiter(queue, left, ring);
        }
    }

    template <class Wait>
    int lock_exclusive(const TicketQueue& queue, const Wait& wait, Turn& turn) noexcept {
        if (std::exchange(turn.left_late, false) && end_leaving(queue.rank + 1)) [[unlikely]] {
            return 0; // with the ticket that it had
        }
        const std::uint32_t ticket = _users.fetch_add(1, std::memory_order_acquire);
        turn.ticket = ticket;
        if (_admitted.writer.load(std::memory_order_acquire) != ticket) [[unlikely]] {
            return wait_for(_admitted.writer, ticket, queue, wait);
        }
        return 0;
    }
    template <class Ring>
    void unlock_exclusive(const TicketQueue& queue, Turn& turn, const Ring& ring) noexcept {
        const std::uint32_t next = turn.ticket + 1;
        const bool late = _users.load(std::memory_order_relaxed) != next && leave_late(queue, next);
        turn.left_late = late;
        // What the process loads after it has left is not older than what it has stored.
        if (late) [[unlikely]] {
            _left_late.exchange(queue.rank + 1, std::memory_order_seq_cst);
        } else {
            _admitted.let_in(next);
            std::atomic_thread_fence(std::memory_order_seq_cst);
        }
        if (late || _users.load(std::memory_order_relaxed) != next) [[unlikely]] {
            ring_waiter(queue, next, ring);
        }
    }

    // For tests.
    std::uint32_t tickets() const noexcept { return _users.load(std::memory_order_acquire); }
    bool is_left_late() const noexcept { return _left_late.load(std::memory_order_acquire) != 0; }

private:
    // Whether the writer leaves late, while another member waits: the one at `next` in the queue is the first.
    bool leave_late(const TicketQueue& queue, std::uint32_t next) noexcept {
        const std::uint32_t times = _in_a_row.load(std::memory_order_relaxed);
        bool late = times < queue.in_a_row.most;
        if (late && queue.in_a_row.longest.count() == 0) {
            late = queue.waiter[next % queue.size].load(std::memory_order_relaxed) == 0;
        } else if (late) {
            const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
            if (times == 0) {
                _row_began.store(now, std::memory_order_relaxed);
            }
            late = now - _row_began.load(std::memory_order_relaxed) < queue.in_a_row.longest.count();
        }
        _in_a_row.store(late ? times + 1 : 0, std::memory_order_relaxed);
        return late;
    }
    // false: another one has ended that.
    bool end_leaving(std::uint32_t name) noexcept {
        return _left_late.compare_exchange_strong(name, 0, std::memory_order_acquire, std::memory_order_relaxed);
    }
    // The writer itself, which wants to read.
    template <class Ring>
    void leave_now(const TicketQueue& queue, const Ring& ring) noexcept {
        if (end_leaving(queue.rank + 1)) {
            const std::uint32_t next = leave_for_next();
            ring_waiter(queue, next, ring);
        }
    }
    // The first of the queue: in the place of the writer. No other one can enter before that.
    bool leave_for_writer(std::uint32_t ticket) noexcept {
        const std::uint32_t name = _left_late.load(std::memory_order_acquire);
        const bool first = name != 0 && _admitted.writer.load(std::memory_order_relaxed) + 1 == ticket;
        if (first && end_leaving(name)) {
            leave_for_next();
            return true;
        }
        return false;
    }
    // Lets the first of the queue in, after a writer that has left late. Returns the ticket of that one.
    std::uint32_t leave_for_next() noexcept {
        _in_a_row.store(0, std::memory_order_relaxed);
        const std::uint32_t next = _admitted.reader.load(std::memory_order_relaxed) + 1;
        _admitted.let_in(next);
        return next;
    }
    template <class Wait>
    int wait_for(std::atomic<std::uint32_t>& admitted, std::uint32_t ticket, const TicketQueue& queue,
        const Wait& wait) noexcept {
        const auto is_next = [&] {
            return admitted.load(std::memory_order_acquire) == ticket || leave_for_writer(ticket);
        };
        std::uint32_t pauses = 0;
        for (std::uint32_t i = 0; i < queue.first_looks; ++i) {
            if (is_next()) {
                return 0;
            }
            for (std::uint32_t k = 0; k < pauses; ++k) {
                pause_processor();
            }
            pauses = std::min(2 * pauses + 1, most_pauses);
        }
        std::atomic<std::uint32_t>& name = queue.waiter[ticket % queue.size];
        name.store(queue.rank + 1, std::memory_order_release);
        const int code = wait(is_next);
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

    // Both words in one, for one store.
    struct alignas(8) Admitted {
        std::atomic<std::uint32_t> reader; // the reader with this ticket may enter
        std::atomic<std::uint32_t> writer; // how many have left; the writer with this ticket may enter

        void let_in(std::uint32_t ticket) noexcept {
#ifdef __SANITIZE_THREAD__
            // The sanitizer takes a store of 8 bytes for a release of the word at its address only.
            __tsan_release(&writer);
#endif
            using Both [[gnu::may_alias]] = std::uint64_t;
            __atomic_store_n(reinterpret_cast<Both*>(this), std::uint64_t(ticket) << 32 | ticket, __ATOMIC_RELEASE);
        }
    };
    static_assert(sizeof(Admitted) == 8);

    std::atomic<std::uint32_t> _users;     // tickets that have been taken
    std::atomic<std::uint32_t> _left_late; // the rank + 1 of a writer that has left, but for _admitted
    Admitted _admitted;
    std::atomic<std::uint32_t> _in_a_row; // how often it has had the lock back; written by the writer that holds it
    std::atomic<std::int64_t> _row_began; // steady_clock, in nanoseconds
};
static_assert(sizeof(RwLock) == 64);

} // namespace patchbay::osc::sm
