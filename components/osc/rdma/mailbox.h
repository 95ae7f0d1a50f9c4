// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/btl/one_sided.h"
#include "object/datatype_basic.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace patchbay::osc::rdma {

// Mailboxes: memory of a target in which each other member of the window has an entry for one operation, which the
// target carries out. It follows the control block. README.md, "Delegated operations", says who writes what.

enum class EntryState : std::uint32_t {
    free,
    posted,   // by the origin; the target may claim the operation, the origin may take it back
    claimed,  // the target carries it out
    done,     // it is complete at the target, and a result is in the payload
    declined, // the target has claimed it and has not carried it out, nor a part of it
};

enum class EntryKind : std::uint8_t {
    put,
    get,
    accumulate,
    get_accumulate,
    compare_swap,
    // A put and a get whose bytes are in the buffer of the origin, and not in the entry: the target copies them by its
    // btl. The payload is an OriginBuffer.
    put_from_origin,
    get_to_origin,
    // A put and a get of more bytes than the entry has room for, see stream.h. The entry is `done` also where the
    // target has waited for the origin for some time: the origin posts it again.
    stream_put,
    stream_get,
};

struct alignas(32) MailboxEntry {
    std::atomic<EntryState> state;
    EntryKind kind;
    bool alone;         // the origin has the exclusive lock of MPI_Win_lock: accumulates need no other one
    BasicIndex element; // the predefined type of accumulates
    std::uint32_t op;   // the handle of its predefined op
    std::uint32_t bytes;
    std::uint64_t place; // from the base of the target's memory
    std::uint32_t piece; // of a stream: its bytes

    // The operand, or the bytes of a put or get. The results of MPI_Get_accumulate stand behind the operand, also where
    // there is none; MPI_Compare_and_swap has the value to compare with there, and then its result.
    std::byte* payload() noexcept { return reinterpret_cast<std::byte*>(this) + sizeof(MailboxEntry); }
    std::byte* second(std::size_t operand) noexcept { return payload() + padded(operand); }
    static constexpr std::size_t padded(std::size_t bytes) noexcept { return (bytes + 15) & ~std::size_t(15); }
};
static_assert(sizeof(MailboxEntry) == 32 && std::atomic<EntryState>::is_always_lock_free);

// A buffer of the origin, for the btl by which the target reaches it.
struct OriginBuffer {
    btl::RemoteKey key; // of the whole address space of the origin
    std::uint64_t address;
};

// Where the entries are in the memory of one target.
class MailboxLayout {
public:
    static constexpr std::size_t line = 64;
    static constexpr std::size_t largest_payload = std::size_t(16) << 10;

    // `payload`: the most bytes of one operation, 0: no mailboxes. It has been made by fitting_payload().
    MailboxLayout(int size, std::size_t payload) noexcept
        : _entries(payload == 0 ? 0 : std::size_t(size) - 1),
          _payload(payload) {}

    // The largest payload with which the mailboxes take at most `most` bytes, and that an operation on a window of
    // `window_bytes` bytes can use; 0: there is none, or no other member.
    static std::size_t fitting_payload(
        int size, std::size_t limit, std::size_t most, std::uint64_t window_bytes) noexcept {
        if (size < 2 || window_bytes == 0 || most < line || limit == 0) {
            return 0;
        }
        const std::size_t room = (most - line) / (std::size_t(size) - 1) / line * line;
        const std::uint64_t useful = std::min<std::uint64_t>(window_bytes, largest_payload);
        const std::size_t wanted = MailboxEntry::padded(std::min(limit, std::size_t(useful)));
        const std::size_t entry = (sizeof(MailboxEntry) + wanted + line - 1) / line * line;
        const std::size_t given = std::min(room, entry);
        return given < line ? 0 : given - sizeof(MailboxEntry);
    }

    std::size_t entries() const noexcept { return _entries; }
    std::size_t payload() const noexcept { return _payload; }
    std::size_t bytes() const noexcept { return _entries == 0 ? 0 : line + _entries * stride(); }
    // Of which member, and of the owner `own`, the entry with that number is.
    static int origin_of(std::size_t entry, int own) noexcept { return int(entry) + (int(entry) >= own ? 1 : 0); }
    static std::size_t entry_of(int origin, int own) noexcept {
        return std::size_t(origin < own ? origin : origin - 1);
    }

    MailboxEntry& at(std::byte* mailboxes, std::size_t entry) const noexcept {
        return *reinterpret_cast<MailboxEntry*>(mailboxes + line + entry * stride());
    }
    // The first line: bit i is set when an entry i, i + 64, ... has been posted. Unused where there is one entry.
    static std::atomic<std::uint64_t>& hints(std::byte* mailboxes) noexcept {
        return *reinterpret_cast<std::atomic<std::uint64_t>*>(mailboxes);
    }

private:
    std::size_t stride() const noexcept { return sizeof(MailboxEntry) + _payload; }

    std::size_t _entries;
    std::size_t _payload;
};

} // namespace patchbay::osc::rdma
