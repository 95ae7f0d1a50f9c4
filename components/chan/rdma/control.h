// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/btl/one_sided.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace patchbay::chan::rdma {

using Word = std::atomic<std::uint64_t>;
static_assert(Word::is_always_lock_free && sizeof(Word) == 8);

// Where the partner puts the messages of this process: the message of slot i goes to `offset + i * stride` in the range
// of the key. Two's complement, so that a stride may be negative.
struct Landing {
    btl::RemoteKey key;
    std::uint64_t offset = 0;
    std::uint64_t stride = 0;
    std::uint64_t capacity = 0; // bytes of a message; a longer one is not put

    std::uint64_t place_of(std::uint32_t slot) const noexcept { return offset + slot * stride; }
};

// The beginning of the memory of a half that the other half writes. Behind it are the slots of a receiving half.
struct Control {
    Word credit;                 // of a synchronous send: how often the receive has been started
    Word landing_version;        // how often the receive has changed `landing`
    alignas(64) Landing landing; // of a receive that has been bound to another buffer
};
static_assert(sizeof(Control) % 64 == 0);

// The message of a slot has arrived when the slot's word has the number of this use of the slot.
struct Arrival {
    static constexpr unsigned size_shift = 16;
    static constexpr std::uint64_t is_inline = 1u << 15;              // the bytes follow the word
    static constexpr std::uint64_t is_too_long = 1u << 14;            // nothing was put
    static constexpr std::uint64_t is_lost = is_inline | is_too_long; // the partner could not put it
    static constexpr std::uint64_t use_mask = (1u << 14) - 1;

    static constexpr std::uint64_t make(std::uint64_t use, std::uint64_t size, std::uint64_t flags) noexcept {
        return size << size_shift | flags | (use & use_mask);
    }
    static constexpr bool has_arrived(std::uint64_t word, std::uint64_t use) noexcept {
        return (word & use_mask) == (use & use_mask);
    }
};
// The largest message.
inline constexpr std::uint64_t most_bytes = (std::uint64_t(1) << (64 - Arrival::size_shift)) - 1;

// The slots of a receiving half: each a word, and room for a short message behind it, so that one that fits into the
// rest of a cache line takes one line.
class Slots {
public:
    Slots() = default;
    Slots(std::uint32_t count, std::uint64_t message, std::uint64_t inline_limit) noexcept {
        const std::uint64_t room = std::min(message, inline_limit);
        const std::uint64_t wanted = (sizeof(Word) + room + line - 1) / line * line;
        _stride = wanted * count <= most_area ? wanted : line;
        _count = count;
    }
    std::uint64_t bytes() const noexcept { return sizeof(Control) + _stride * _count; }
    std::uint64_t place_of(std::uint32_t slot) const noexcept { return sizeof(Control) + _stride * slot; }
    std::uint64_t room() const noexcept { return _stride - sizeof(Word); }
    std::uint64_t stride() const noexcept { return _stride; }
    std::uint32_t count() const noexcept { return _count; }

private:
    static constexpr std::uint64_t line = 64;
    static constexpr std::uint64_t most_area = 256 << 10; // with more slots their messages are put
    std::uint64_t _stride = line;
    std::uint32_t _count = 0;
};

// What a half tells the other one when the channel is bound.
struct Offer {
    char module[16] = {}; // by which the half is reached
    btl::RemoteKey control;
    Landing landing;                // of a receiving half
    std::uint64_t inline_limit = 0; // by which the slots of a receiving half were made
};

} // namespace patchbay::chan::rdma
