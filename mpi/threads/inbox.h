// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/doorbell.h"
#include "mpi/threads/slot.h"

#include <array>

namespace patchbay::threads {

// A sender that waits for a free slot of an inbox.
struct RoomWait {
    Doorbell* bell = nullptr; // on which it sleeps
    RoomWait* next = nullptr;
    std::atomic<bool> listed{false};
};

// The queue in which all threads of a process put messages for one of them, but those senders that have a lane. The
// line with the tail is written by senders only, with one locked instruction for each message. Lock-free; bounded: a
// sender that finds no free slot tries again.
class Inbox {
public:
    static constexpr std::uint64_t slot_count = 128;
    // Lanes of one receiver: it looks at each of them in every poll.
    static constexpr std::uint32_t most_lanes = 8;

    // For senders:
    Claim claim() noexcept {
        std::uint64_t tail = _tail.load(std::memory_order_relaxed);
        do {
            if (tail - _known_head.load(std::memory_order_acquire) >= slot_count) {
                const std::uint64_t head = _head.load(std::memory_order_seq_cst); // see await_room()
                if (tail - head >= slot_count) {
                    return {};
                }
                _known_head.store(head, std::memory_order_release);
            }
        } while (!_tail.compare_exchange_weak(tail, tail + 1, std::memory_order_relaxed));
        return {&_slots[tail % slot_count], std::uint32_t(tail) + 1};
    }
    // After claim() has found no slot: the bell is rung when there is room. The caller looks once more afterwards.
    void await_room(RoomWait& wait) noexcept {
        if (!wait.listed.exchange(true, std::memory_order_acq_rel)) {
            wait.next = _waits.load(std::memory_order_relaxed);
            while (!_waits.compare_exchange_weak(wait.next, &wait, std::memory_order_seq_cst)) {
            }
        }
    }
    // Whether the caller may have a lane: the first senders that ask may.
    bool grant_lane() noexcept {
        return _lanes.load(std::memory_order_relaxed) < most_lanes &&
            _lanes.fetch_add(1, std::memory_order_relaxed) < most_lanes;
    }
    void return_lane() noexcept { _lanes.fetch_sub(1, std::memory_order_relaxed); }

    // For the receiver: the next message; null: there is none.
    const Envelope* front() const noexcept {
        const Slot& slot = _slots[_position % slot_count];
        return slot.turn.load(std::memory_order_acquire) == std::uint32_t(_position) + 1 ? &slot.envelope : nullptr;
    }
    void pop() noexcept {
        // Told to the senders in steps, so that the line with the head seldom moves.
        if (++_position % (slot_count / 4) == 0) {
            _head.store(_position, std::memory_order_seq_cst);
            if (_waits.load(std::memory_order_seq_cst) != nullptr) [[unlikely]] {
                wake_waiting();
            }
        }
    }

private:
    void wake_waiting() noexcept {
        for (RoomWait* wait = _waits.exchange(nullptr, std::memory_order_acquire); wait != nullptr;) {
            RoomWait* const next = wait->next;
            Doorbell& bell = *wait->bell;
            wait->listed.store(false, std::memory_order_release);
            bell.notify();
            wait = next;
        }
    }

    alignas(64) std::atomic<std::uint64_t> _tail{0};
    std::atomic<std::uint64_t> _known_head{0};
    std::atomic<std::uint32_t> _lanes{0};
    alignas(64) std::atomic<std::uint64_t> _head{0};
    std::atomic<RoomWait*> _waits{nullptr};
    alignas(64) std::uint64_t _position = 0;
    std::array<Slot, slot_count> _slots;
};

} // namespace patchbay::threads
