// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/doorbell.h"
#include "mpi/threads/shared_copy.h"
#include "mpi/threads/slot.h"

#include <array>
#include <memory>
#include <new>

namespace patchbay::threads {

// The queue from one thread to another one of its process. Neither of them executes a locked instruction: each slot is
// written by the sender only, and the receiver publishes in steps what it has taken. Payloads that are longer than a
// slot are in memory of the lane, one behind the other, which the first one of them takes.
class Lane {
public:
    static constexpr std::uint32_t slot_count = 64;
    static constexpr std::size_t payload_bytes = 32 << 10;
    static constexpr std::size_t longest_payload = payload_bytes / 8;

    // `sender`: the bell on which the sender waits for a free slot.
    explicit Lane(Doorbell& sender) noexcept
        : _sender(sender) {}

    // For the sender: a slot for the next message, and memory for that many bytes of payload, at most longest_payload,
    // which begins at *payload. 0 bytes: no memory.
    Claim claim(std::size_t bytes = 0, std::byte** payload = nullptr) noexcept {
        if (!has_room(bytes)) [[unlikely]] {
            look_for_taken();
            if (!has_room(bytes)) {
                return {};
            }
        }
        if (bytes > 0) {
            if (_payloads == nullptr && !make_payloads()) [[unlikely]] {
                return {};
            }
            const std::size_t begin = begin_of(bytes);
            *payload = &_payloads->bytes[begin % payload_bytes];
            _filled = begin + bytes;
        }
        Slot& slot = _slots[_claimed % slot_count];
        _ends[_claimed % slot_count] = _filled;
        return {&slot, ++_claimed};
    }

    // For the sender: how it writes long messages to the receiver's buffers.
    StoreWay& way() noexcept { return _way; }

    // For the receiver: the next message; null: there is none.
    const Envelope* front() const noexcept {
        const Slot& slot = _slots[_position % slot_count];
        return slot.turn.load(std::memory_order_acquire) == _position + 1 ? &slot.envelope : nullptr;
    }
    void pop() noexcept {
        const Envelope& envelope = _slots[_position % slot_count].envelope;
        ++_position;
        _unpublished_bytes += envelope.kind == Kind::in_lane ? envelope.bytes : 0;
        if (_position - _published == slot_count / 4 || _unpublished_bytes >= payload_bytes / 4) {
            _published = _position;
            _unpublished_bytes = 0;
            _taken.store(_position, std::memory_order_release);
            _sender.notify();
        }
    }

private:
    struct alignas(cache_line_bytes) Payloads {
        std::array<std::byte, payload_bytes> bytes;
    };

    // A payload begins a cache line, so that it shares none with the one before, which the receiver may be reading. It
    // does not go round the end of the memory.
    std::size_t begin_of(std::size_t bytes) const noexcept {
        const std::size_t begin = (_filled + cache_line_bytes - 1) / cache_line_bytes * cache_line_bytes;
        const std::size_t left = payload_bytes - begin % payload_bytes;
        return bytes <= left ? begin : begin + left;
    }
    bool has_room(std::size_t bytes) const noexcept {
        return _claimed - _known_taken < slot_count && begin_of(bytes) + bytes - _taken_payloads <= payload_bytes;
    }
    void look_for_taken() noexcept {
        const std::uint32_t taken = _taken.load(std::memory_order_acquire);
        if (taken != _known_taken) {
            _known_taken = taken;
            _taken_payloads = _ends[(taken - 1) % slot_count];
        }
    }
    bool make_payloads() noexcept {
        _payloads.reset(new (std::nothrow) Payloads);
        return _payloads != nullptr;
    }

    // The sender's:
    std::uint32_t _claimed = 0;
    std::uint32_t _known_taken = 0;
    std::size_t _filled = 0;         // of the payloads, counted without end
    std::size_t _taken_payloads = 0; // up to where they are known to have been taken
    std::unique_ptr<Payloads> _payloads;
    std::array<std::size_t, slot_count> _ends{}; // the value of _filled after each message
    // The receiver's, but for the first:
    alignas(64) std::atomic<std::uint32_t> _taken{0};
    alignas(64) std::uint32_t _position = 0;
    std::uint32_t _published = 0; // the value of _taken
    std::size_t _unpublished_bytes = 0;
    Doorbell& _sender;
    std::array<Slot, slot_count> _slots;
    StoreWay _way{Stores::automatic, SharedCopy::most_ns_per_kib}; // the sender's
};

} // namespace patchbay::threads
