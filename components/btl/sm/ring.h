// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/common/short_copy.h"
#include "core/base/populate.h"
#include "core/base/round_up.h"
#include "core/progress/doorbell.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace patchbay::btl::sm {

inline constexpr std::size_t line_size = 64;

// One message, or the head of one, in one cache line. The first word publishes the rest: its low half is the slot's
// position + 1, which no earlier lap of the ring can have left there, so that nothing has to be cleared.
struct alignas(line_size) Slot {
    static constexpr std::size_t room = line_size - sizeof(std::uint64_t);
    static constexpr std::uint8_t in_bulk = 1; // the payload is in the bulk ring, not behind the header
    static constexpr std::uint8_t wrapped = 2; // ... at its start: the bytes up to its end were left out
    static constexpr std::uint8_t flush = 4;   // no packet: the receiver is to publish what it has consumed

    std::atomic<std::uint64_t> word;
    std::byte data[room];

    static constexpr std::uint64_t make_word(
        std::uint32_t sequence, std::size_t header_size, std::size_t payload_size, std::uint8_t flags) noexcept {
        return std::uint64_t(sequence) | std::uint64_t(payload_size) << 32 | std::uint64_t(header_size) << 48 |
            std::uint64_t(flags) << 56;
    }
};
static_assert(sizeof(Slot) == line_size && std::atomic<std::uint64_t>::is_always_lock_free);

// Written by the receiver, read by the sender only when the ring looks full.
struct alignas(line_size) ReceiverLine {
    std::atomic<std::uint64_t> bulk_consumed;
    std::atomic<std::uint32_t> slots_consumed;
};

// Written by the sender when its library goes down, so that its next generation continues where this one ended.
struct alignas(line_size) SenderLine {
    std::uint64_t bulk_head;
    std::uint32_t head;
};

// The memory of one direction between two processes: zero-filled is valid and empty. Sizes are powers of two.
struct RingShape {
    std::uint32_t slots;
    std::size_t bulk_size;

    static constexpr std::size_t page = 4096;
    static constexpr std::size_t bulk_step = 16384;   // of the bulk ring, that memory is taken for at a time
    static constexpr std::size_t short_payload = 128; // which takes no more memory as long as the receiver keeps up
    std::size_t head_bytes() const noexcept {         // what a ring needs before its first bulk payload
        return round_up(sizeof(ReceiverLine) + sizeof(SenderLine) + slots * sizeof(Slot), page);
    }
    std::size_t bytes() const noexcept { return head_bytes() + bulk_size; }
    // A packet of this size always fits into an empty ring, wherever its head is, although the receiver reports up to a
    // quarter of the ring later than it has read it.
    std::size_t largest_packet() const noexcept { return bulk_size / 4; }
};

struct RingMemory {
    ReceiverLine* receiver;
    SenderLine* sender;
    Slot* slots;
    std::byte* bulk;

    // Both ends are about to use the head as a whole; memory has been taken for it.
    RingMemory(std::byte* base, const RingShape& shape) noexcept
        : receiver(reinterpret_cast<ReceiverLine*>(base)),
          sender(reinterpret_cast<SenderLine*>(base + sizeof(ReceiverLine))),
          slots(reinterpret_cast<Slot*>(base + sizeof(ReceiverLine) + sizeof(SenderLine))),
          bulk(base + shape.head_bytes()) {
        populate({base, shape.head_bytes()}, Access::write);
    }
};

using common::copy_short;

inline constexpr std::size_t round_to_line(std::size_t bytes) noexcept {
    return (bytes + line_size - 1) & ~(line_size - 1);
}

// The sending end. Only its process writes slots and bulk, so there is no read-modify-write anywhere.
class RingSender {
public:
    // Closed: full, so that the hot path needs no test of its own.
    RingSender() = default;
    RingSender(const RingMemory& memory, const RingShape& shape) noexcept
        : _slots(memory.slots),
          _bulk(memory.bulk),
          _receiver(memory.receiver),
          _saved(memory.sender),
          _slot_mask(shape.slots - 1),
          _bulk_mask(shape.bulk_size - 1),
          _head(memory.sender->head),
          _bulk_head(memory.sender->bulk_head) {
        refresh();
    }

    bool is_open() const noexcept { return _slots != nullptr; }
    // No room according to what was last read from the receiver.
    bool looks_full() const noexcept { return _head == _full_head; }
    bool is_full() noexcept {
        if (!looks_full()) [[likely]] {
            return false;
        }
        if (is_open()) {
            refresh();
        }
        return looks_full();
    }

    // Header and payload into one slot: header_size + payload_size <= Slot::room. The ring is not full.
    void push_inline(
        const void* header, std::size_t header_size, const void* payload, std::size_t payload_size) noexcept {
        const std::uint32_t head = _head; // what is copied may be anywhere, as far as the compiler knows
        Slot& slot = _slots[head & _slot_mask];
        if (header_size == 16) { // known to the compiler where it matters
            std::memcpy(slot.data, header, 16);
        } else {
            copy_short(slot.data, header, header_size);
        }
        copy_short(slot.data + header_size, payload, payload_size);
        publish(slot, head, header_size, payload_size, 0);
    }

    // Room for `size` bytes of payload in the bulk ring, nullptr: full. At most one push_bulk follows.
    std::byte* reserve_bulk(std::size_t size) noexcept {
        if (is_full()) {
            return nullptr;
        }
        const std::size_t offset = _bulk_head & _bulk_mask;
        const std::size_t to_end = _bulk_mask + 1 - offset;
        const std::size_t need = round_to_line(size);
        _skip = need > to_end ? to_end : 0;
        const std::size_t total = need + _skip;
        if (!has_bulk(total)) {
            refresh();
            if (!has_bulk(total)) {
                return nullptr;
            }
        }
        return _bulk + (_skip != 0 ? 0 : offset);
    }
    // The same at the start of the bulk ring, in place of the room that reserve_bulk() has just given: the bytes up to
    // the end are left out. nullptr: the receiver has not read what is at the start; the room from before stays.
    std::byte* reserve_at_start(std::size_t size) noexcept {
        const std::size_t to_end = _bulk_mask + 1 - (_bulk_head & _bulk_mask);
        refresh();
        if (!has_bulk(to_end + round_to_line(size))) {
            return nullptr;
        }
        _skip = to_end;
        return _bulk;
    }
    std::byte* bulk() const noexcept { return _bulk; }
    std::size_t offset_in_bulk(const std::byte* room) const noexcept { return std::size_t(room - _bulk); }
    void push_bulk(const void* header, std::size_t header_size, std::size_t payload_size) noexcept {
        Slot& slot = _slots[_head & _slot_mask];
        copy_short(slot.data, header, header_size);
        _bulk_head += _skip + round_to_line(payload_size);
        publish(slot, _head, header_size, payload_size, Slot::in_bulk | (_skip != 0 ? Slot::wrapped : 0));
    }

    // Room for an inline packet whose payload the caller writes; push_reserved follows. nullptr: full.
    std::byte* reserve_inline(std::size_t header_size) noexcept {
        return is_full() ? nullptr : _slots[_head & _slot_mask].data + header_size;
    }
    void push_reserved(const void* header, std::size_t header_size, std::size_t payload_size) noexcept {
        Slot& slot = _slots[_head & _slot_mask];
        copy_short(slot.data, header, header_size);
        publish(slot, _head, header_size, payload_size, 0);
    }

    // Asks the receiver to publish what it has consumed, so that is_empty() can become true. false: full.
    bool push_flush() noexcept {
        if (is_full()) {
            return false;
        }
        publish(_slots[_head & _slot_mask], _head, 0, 0, Slot::flush);
        return true;
    }
    bool is_empty() noexcept {
        refresh();
        return _full_head - (_slot_mask + 1) == _head;
    }
    std::uint32_t head() const noexcept { return _head; }

    void save() noexcept {
        _saved->head = _head;
        _saved->bulk_head = _bulk_head;
    }

private:
    bool has_bulk(std::size_t bytes) const noexcept { return _bulk_head + bytes - _bulk_consumed <= _bulk_mask + 1; }
    void refresh() noexcept {
        _full_head = _receiver->slots_consumed.load(std::memory_order_acquire) + _slot_mask + 1;
        _bulk_consumed = _receiver->bulk_consumed.load(std::memory_order_acquire);
    }
    void publish(Slot& slot, std::uint32_t head, std::size_t header_size, std::size_t payload_size,
        std::uint8_t flags) noexcept {
        _head = head + 1;
        slot.word.store(Slot::make_word(head + 1, header_size, payload_size, flags), std::memory_order_release);
    }

    Slot* _slots = nullptr;
    std::byte* _bulk = nullptr;
    ReceiverLine* _receiver = nullptr;
    SenderLine* _saved = nullptr;
    std::uint32_t _slot_mask = 0;
    std::size_t _bulk_mask = 0;
    std::uint32_t _head = 0;      // slots ever filled
    std::uint32_t _full_head = 0; // head of the full ring, as last read from the receiver
    std::uint64_t _bulk_head = 0;
    std::uint64_t _bulk_consumed = 0;
    std::size_t _skip = 0; // of the reservation under way: bytes left out at the end of the bulk ring
};

// A packet as it lies in shared memory; valid until the next call to the receiver.
struct Packet {
    const std::byte* header;
    std::size_t header_size;
    const std::byte* payload;
    std::size_t payload_size;
};

// The receiving end: look(), use the packet, done(). It publishes what it has consumed only once per quarter of a ring,
// so that the cache line of the counters is seldom transferred, and then rings the bell of the sender, which may be
// waiting for room.
class RingReceiver {
public:
    RingReceiver(const RingMemory& memory, const RingShape& shape, Doorbell& sender) noexcept
        : _slots(memory.slots),
          _bulk(memory.bulk),
          _line(memory.receiver),
          _sender(&sender),
          _slot_mask(shape.slots - 1),
          _bulk_mask(shape.bulk_size - 1),
          _next(memory.receiver->slots_consumed.load(std::memory_order_relaxed)),
          _published(_next),
          _bulk_next(memory.receiver->bulk_consumed.load(std::memory_order_relaxed)),
          _bulk_published(_bulk_next) {}

    bool look(Packet& packet) noexcept {
        const Slot& slot = _slots[_next & _slot_mask];
        const std::uint64_t word = slot.word.load(std::memory_order_acquire);
        if (std::uint32_t(word) != _next + 1) {
            return false;
        }
        packet.payload_size = std::uint16_t(word >> 32);
        packet.header_size = std::uint8_t(word >> 48);
        packet.header = slot.data;
        const auto flags = std::uint8_t(word >> 56);
        if (flags == 0) [[likely]] {
            packet.payload = slot.data + packet.header_size;
            return true;
        }
        if ((flags & Slot::flush) != 0) {
            ++_next;
            publish();
            return look(packet);
        }
        _bulk_before = _bulk_next;
        if ((flags & Slot::wrapped) != 0) {
            _bulk_next = (_bulk_next | _bulk_mask) + 1;
        }
        const std::size_t offset = _bulk_next & _bulk_mask;
        if (offset + packet.payload_size > _bulk_populated) [[unlikely]] {
            populate_bulk(offset + packet.payload_size);
        }
        packet.payload = _bulk + offset;
        _bulk_next += round_to_line(packet.payload_size);
        return true;
    }

    // The packet of the last look() stays in the ring: the next look() finds it again. Instead of done().
    void put_back(const Packet& packet) noexcept {
        if (packet.payload != packet.header + packet.header_size) {
            _bulk_next = _bulk_before;
        }
    }
    // The packet of the last look() is used up.
    void done() noexcept {
        ++_next;
        if (_next - _published > _slot_mask / 4 || _bulk_next - _bulk_published > _bulk_mask / 4) [[unlikely]] {
            publish();
        }
    }

    bool is_empty() const noexcept {
        return std::uint32_t(_slots[_next & _slot_mask].word.load(std::memory_order_acquire)) != _next + 1;
    }

    // For the next library generation.
    void save() noexcept {
        _published = _next;
        _bulk_published = _bulk_next;
        _line->bulk_consumed.store(_bulk_next, std::memory_order_release);
        _line->slots_consumed.store(_next, std::memory_order_release);
    }

private:
    void publish() noexcept {
        save();
        _sender->notify();
    }
    // The sender has taken memory up to the same step.
    [[gnu::noinline]] void populate_bulk(std::size_t end) noexcept {
        const std::size_t populated = std::min(round_up(end, RingShape::bulk_step), _bulk_mask + 1);
        populate({_bulk + _bulk_populated, populated - _bulk_populated}, Access::read);
        _bulk_populated = populated;
    }

    Slot* _slots;
    std::byte* _bulk;
    ReceiverLine* _line;
    Doorbell* _sender;
    std::uint32_t _slot_mask;
    std::size_t _bulk_mask;
    std::uint32_t _next; // slots ever consumed
    std::uint32_t _published;
    std::uint64_t _bulk_next;
    std::uint64_t _bulk_published;
    std::size_t _bulk_populated = 0; // bytes of the bulk ring, from its start
    std::uint64_t _bulk_before = 0;  // _bulk_next before the last packet with a payload in the bulk ring
};

} // namespace patchbay::btl::sm
