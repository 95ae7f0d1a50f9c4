// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/osc/sm/element_lock.h"
#include "components/osc/sm/rw_lock.h"

#include <cstddef>

namespace patchbay::osc::sm {

// What a member of a window has in the memory of the node, for all members: a block of zeros at first. Arrays with a
// word for each member follow.
struct Control {
    using Word = std::atomic<std::uint32_t>;

    RwLock lock;
    ElementLock elements;
    alignas(64) std::atomic<std::uint64_t> arrived; // rounds of barriers that this member has come to
    // Of the central barrier, in the block of rank 0 only.
    alignas(64) std::atomic<std::uint64_t> arrivals; // of all members in all barriers
    alignas(64) std::atomic<std::uint64_t> released; // barriers that have ended

    Word* array(std::size_t number, std::uint32_t members) noexcept {
        return reinterpret_cast<Word*>(this + 1) + number * members;
    }
    // For the tickets of `lock`.
    Word* waiters(std::uint32_t members) noexcept { return array(0, members); }
    // For `elements`.
    Word* wants(std::uint32_t members) noexcept { return array(1, members); }
    // How often a member has called post() for this one, and complete() for an epoch of this one. Written by that
    // member only.
    Word* posts(std::uint32_t members) noexcept { return array(2, members); }
    Word* completions(std::uint32_t members) noexcept { return array(3, members); }
    // Whether this member has a ticket of that member's lock. Written by this member only, at each lock and unlock, and
    // therefore in cache lines that no other member reads meanwhile, as it does those of `waiters`.
    Word* tickets(std::uint32_t members) noexcept {
        return reinterpret_cast<Word*>(reinterpret_cast<std::byte*>(this + 1) + bytes_for_others(members));
    }

    static std::size_t bytes(std::uint32_t members) noexcept {
        return sizeof(Control) + bytes_for_others(members) + sizeof(Word) * members;
    }

private:
    // The arrays before `tickets`, in whole cache lines.
    static std::size_t bytes_for_others(std::uint32_t members) noexcept {
        constexpr std::size_t line = alignof(Control);
        return (4 * sizeof(Word) * members + line - 1) / line * line;
    }
};

} // namespace patchbay::osc::sm
