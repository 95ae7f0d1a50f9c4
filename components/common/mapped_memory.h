// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/common/pieces.h"
#include "components/common/short_copy.h"

#include <atomic>
#include <cstring>

namespace patchbay::common {

// One-sided operations in memory that this process has mapped.

enum class Direction : std::uint8_t { put, get };

// The lists have been checked; `base` is where their range begins.
inline void copy_mapped(Direction direction, std::span<const iovec> local, std::byte* base,
    std::span<const btl::RemotePiece> remote) noexcept {
    PieceCursor here(local);
    PieceCursor there(remote);
    while (!here.at_end()) {
        const std::uint64_t bytes = std::min(here.bytes(), there.bytes());
        auto* const mine = reinterpret_cast<std::byte*>(here.place());
        std::byte* const theirs = base + there.place();
        if (direction == Direction::put) {
            copy_any(theirs, mine, bytes);
        } else {
            copy_any(mine, theirs, bytes);
        }
        here.advance(bytes);
        there.advance(bytes);
    }
}

template <class Word>
Word update(std::byte* place, btl::Atomic op, Word operand) noexcept {
    std::atomic_ref<Word> word(*reinterpret_cast<Word*>(place));
    switch (op) {
    case btl::Atomic::add:
        return word.fetch_add(operand);
    case btl::Atomic::bit_and:
        return word.fetch_and(operand);
    case btl::Atomic::bit_or:
        return word.fetch_or(operand);
    case btl::Atomic::bit_xor:
        return word.fetch_xor(operand);
    case btl::Atomic::swap:
        return word.exchange(operand);
    case btl::Atomic::load:
        break;
    }
    return word.load();
}

template <class Word>
void fetch_op_on(std::byte* place, btl::Atomic op, std::uint64_t operand, void* fetched) noexcept {
    const Word before = update(place, op, Word(operand));
    if (fetched != nullptr) {
        std::memcpy(fetched, &before, sizeof before);
    }
}

template <class Word>
void compare_swap_on(std::byte* place, std::uint64_t compare, std::uint64_t desired, void* fetched) noexcept {
    Word before = Word(compare);
    std::atomic_ref<Word>(*reinterpret_cast<Word*>(place)).compare_exchange_strong(before, Word(desired));
    if (fetched != nullptr) {
        std::memcpy(fetched, &before, sizeof before);
    }
}

inline void fetch_op_mapped(
    std::byte* place, btl::Atomic op, btl::Width width, std::uint64_t operand, void* fetched) noexcept {
    if (width == btl::Width::bits64) {
        fetch_op_on<std::uint64_t>(place, op, operand, fetched);
    } else {
        fetch_op_on<std::uint32_t>(place, op, operand, fetched);
    }
}

inline void compare_swap_mapped(
    std::byte* place, btl::Width width, std::uint64_t compare, std::uint64_t desired, void* fetched) noexcept {
    if (width == btl::Width::bits64) {
        compare_swap_on<std::uint64_t>(place, compare, desired, fetched);
    } else {
        compare_swap_on<std::uint32_t>(place, compare, desired, fetched);
    }
}

// 0, or the error of Started for an atomic on `place` in a range of that many bytes.
inline int check_atomic(const std::byte* base, std::uint64_t range, std::uint64_t offset, btl::Width width) noexcept {
    const std::uint64_t bytes = std::uint64_t(width);
    if (offset > range || bytes > range - offset) {
        return ERANGE;
    }
    return (reinterpret_cast<std::uintptr_t>(base) + offset) % bytes == 0 ? 0 : EINVAL;
}

} // namespace patchbay::common
