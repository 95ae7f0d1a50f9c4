// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/round_up.h"
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace patchbay::coll::sm {

inline constexpr std::size_t cache_line = 64;

// What a member contributes to one step: one cache line, written by its member only, so that a reader gets the number
// of the step and a short contribution by one transfer.
struct alignas(cache_line) Slot {
    static constexpr std::size_t room = 48;
    static constexpr std::uint16_t passed_on = std::numeric_limits<std::uint16_t>::max(); // as `bytes`

    std::atomic<std::uint64_t> step; // whose contribution it has; stored last
    std::uint16_t bytes;             // up to `room` in `data`, more in the member's ring
    std::uint16_t unit;              // of the ring, where they begin
    std::int32_t code;               // an MPI code; not MPI_SUCCESS: there is no contribution
    std::byte data[room];
};
static_assert(sizeof(Slot) == cache_line);

inline constexpr std::size_t longest_contribution = 4096;

// Longer contributions than those of a slot are in the ring of the member: units of which each takes some in a row.
struct Unit {
    static constexpr std::size_t bytes = 256;
    static constexpr std::size_t number_for(std::size_t contribution) noexcept {
        return (contribution + bytes - 1) / bytes;
    }
};

// Of each member.
inline constexpr std::uint64_t slots = 64;
inline constexpr std::uint64_t units = 32 * Unit::number_for(longest_contribution);

// Steps that a member has completed and others do not know of, at most. The room for the contributions of so many steps
// and of two more is always there: a member that has returned from its calls keeps no other one waiting.
inline constexpr std::uint64_t unpublished_limit = 8;
static_assert(unpublished_limit + 2 <= slots);
static_assert((unpublished_limit + 2) * Unit::number_for(longest_contribution) <= units);

// The rest of what a member writes.
struct alignas(cache_line) Member {
    static constexpr std::uint64_t left = std::numeric_limits<std::uint64_t>::max(); // it takes part in no more steps

    std::atomic<std::uint64_t> done; // steps that are complete in this member; it may be behind. Or `left`
    std::uint32_t slot;              // of the process in the node segment
    std::int32_t pid;
};

// The memory that the members share: address space that reads as zeros at first. Arrays follow. A member's slots are
// used in turn: that of step s by step s + slots, when all members have completed step s.
struct Area {
    static constexpr std::size_t page = 4096;

    alignas(cache_line) std::atomic<std::uint32_t> users;  // members that have not left it
    std::atomic<std::uint32_t> broken;                     // 1: a member has failed, or could not take part
    alignas(cache_line) std::atomic<std::uint64_t> joined; // members that have come to a join, in all of them
    // Of the last join that has ended: `step` is its number, and the contents are its result, if it has one.
    alignas(cache_line) Slot result;
    std::byte long_result[longest_contribution];

    // What is in use from the beginning, and where the rings begin, of which each takes memory when it is used: in the
    // middle of a page. The program's buffers are near its beginning, if malloc() has made them, and a copy between two
    // places with the same offset in their pages is slow.
    static constexpr std::size_t start_bytes(std::uint32_t size) noexcept {
        return round_up(sizeof(Area) + size * (sizeof(Member) + slots * sizeof(Slot)), page);
    }
    static constexpr std::size_t ring_bytes = units * Unit::bytes;
    static constexpr std::size_t ring_offset(std::uint32_t size, std::uint32_t rank) noexcept {
        return start_bytes(size) + page / 2 + rank * ring_bytes;
    }
    static constexpr std::size_t bytes(std::uint32_t size) noexcept {
        const std::size_t end = ring_offset(size, size);
        return (end + page - 1) / page * page;
    }

    Member* members() noexcept { return reinterpret_cast<Member*>(this + 1); }
    Slot& slot(std::uint32_t size, std::uint32_t rank, std::uint64_t step) noexcept {
        return reinterpret_cast<Slot*>(members() + size)[rank * slots + step % slots];
    }
    std::byte* ring(std::uint32_t size, std::uint32_t rank) noexcept {
        return reinterpret_cast<std::byte*>(this) + ring_offset(size, rank);
    }
};

} // namespace patchbay::coll::sm
