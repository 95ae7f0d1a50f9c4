// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/osc/rdma/mailbox.h"

#include <algorithm>

namespace patchbay::osc::rdma {

// A put or get of more bytes than an entry has room for, while the target has the entry: the payload consists of two
// halves, and one process fills one of them while the other one empties the other. Each process counts the pieces that
// it has copied in a line of its own; piece k is in half k % 2. Neither count goes back, also where the entry is posted
// several times for one operation. README.md, "Delegated operations".
class Stream {
public:
    // The most bytes of a piece; 0: the payload is too small.
    static std::size_t most_of_piece(std::size_t payload) noexcept {
        return payload < smallest_payload ? 0 : (payload - halves_at) / 2 / line * line;
    }

    // `entry` has the bytes of the operation and of a piece.
    Stream(MailboxEntry& entry, std::size_t payload) noexcept
        : _payload(entry.payload()),
          _half(most_of_piece(payload)),
          _bytes(entry.bytes),
          _piece(entry.piece),
          _is_put(entry.kind == EntryKind::stream_put) {}

    // Whether the sizes fit: an entry is written by another process.
    bool is_valid() const noexcept { return _piece > 0 && _piece <= _half; }
    void begin() noexcept {
        by_origin().store(0, std::memory_order_relaxed);
        by_target().store(0, std::memory_order_relaxed);
    }

    using Count = std::atomic<std::uint32_t>;
    Count& by_origin() noexcept { return count_at(origin_at); }
    Count& by_target() noexcept { return count_at(target_at); }

    std::uint32_t pieces() const noexcept { return std::uint32_t((_bytes + _piece - 1) / _piece); }
    std::size_t offset(std::uint32_t piece) const noexcept { return std::size_t(piece) * _piece; }
    std::size_t size(std::uint32_t piece) const noexcept { return std::min(_piece, _bytes - offset(piece)); }
    std::byte* half(std::uint32_t piece) noexcept { return _payload + halves_at + piece % 2 * _half; }

    // Whether a process that has copied `own` pieces may copy the next one, where the other one has copied `others`.
    bool may_fill(std::uint32_t own, std::uint32_t others) const noexcept { return own < others + 2; }
    bool may_empty(std::uint32_t own, std::uint32_t others) const noexcept { return own < others; }
    bool target_may_copy(std::uint32_t own, std::uint32_t others) const noexcept {
        return _is_put ? may_empty(own, others) : may_fill(own, others);
    }
    bool origin_may_copy(std::uint32_t own, std::uint32_t others) const noexcept {
        return _is_put ? may_fill(own, others) : may_empty(own, others);
    }

private:
    // The payload begins in the middle of a line.
    static constexpr std::size_t line = MailboxLayout::line;
    static constexpr std::size_t origin_at = line - sizeof(MailboxEntry);
    static constexpr std::size_t target_at = origin_at + line;
    static constexpr std::size_t halves_at = target_at + line;
    static constexpr std::size_t smallest_payload = 2048;

    Count& count_at(std::size_t place) noexcept { return *reinterpret_cast<Count*>(_payload + place); }

    std::byte* _payload;
    std::size_t _half;
    std::size_t _bytes;
    std::size_t _piece;
    bool _is_put;
};

} // namespace patchbay::osc::rdma
