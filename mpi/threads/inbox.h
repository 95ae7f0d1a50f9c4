// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/threads/message.h"

#include <array>

namespace patchbay::threads {

// The queue in which all threads of a process put messages for one of them. Each slot is a cache line, and the word
// that publishes a message is in the line of its envelope, so that a short message costs the receiver one transfer of a
// line. The line with the tail is written by senders only. Lock-free; bounded: a sender that finds no free slot tries
// again.
class Inbox {
public:
    static constexpr std::uint64_t slot_count = 128;

    struct alignas(64) Slot {
        std::atomic<std::uint32_t> turn{0}; // the position of its message + 1
        Envelope envelope;
    };
    static_assert(sizeof(Slot) == 64);

    // For senders: a slot, which publish() hands to the receiver; no slot: it is full. Between the two calls the sender
    // does nothing but write the envelope.
    struct Claim {
        Slot* slot;
        std::uint32_t turn;
    };
    Claim claim() noexcept {
        std::uint64_t tail = _tail.load(std::memory_order_relaxed);
        do {
            if (tail - _known_head.load(std::memory_order_acquire) >= slot_count) {
                const std::uint64_t head = _head.load(std::memory_order_acquire);
                if (tail - head >= slot_count) {
                    return {nullptr, 0};
                }
                _known_head.store(head, std::memory_order_release);
            }
        } while (!_tail.compare_exchange_weak(tail, tail + 1, std::memory_order_relaxed));
        return {&_slots[tail % slot_count], std::uint32_t(tail) + 1};
    }
    static void publish(const Claim& claim) noexcept { claim.slot->turn.store(claim.turn, std::memory_order_release); }

    // For the receiver: the next message; nullptr: there is none.
    const Envelope* front() const noexcept {
        const Slot& slot = _slots[_position % slot_count];
        return slot.turn.load(std::memory_order_acquire) == std::uint32_t(_position) + 1 ? &slot.envelope : nullptr;
    }
    void pop() noexcept {
        // Told to the senders in steps, so that the line with the head seldom moves.
        if (++_position % (slot_count / 4) == 0) {
            _head.store(_position, std::memory_order_release);
        }
    }

private:
    alignas(64) std::atomic<std::uint64_t> _tail{0};
    std::atomic<std::uint64_t> _known_head{0};
    alignas(64) std::atomic<std::uint64_t> _head{0};
    alignas(64) std::uint64_t _position = 0;
    std::array<Slot, slot_count> _slots;
};

} // namespace patchbay::threads
