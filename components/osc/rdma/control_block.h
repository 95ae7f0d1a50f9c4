// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/osc/rdma/words.h"

#include <cstddef>

namespace patchbay::osc::rdma {

// The words of a lock: three that change with each use, and three words for each member. See fair_lock.h.
struct LockWords {
    Word tickets = 0; // that have been taken
    Word read = 0;    // the ticket with which a process may read now
    Word ended = 0;   // tickets whose holders have released the lock
    Word intent = 0;  // + member: not 0 while that member wants or holds the lock
    Word waiter = 0;  // + ticket % size: who waits with this ticket
    Word granted = 0; // + member, in the block of the one who waits: its ticket + 1 for the lock of that member
};

// Where the words of a control block are, in a window of `size` members. Words of one writer each, or of one purpose,
// share cache lines; words that one process waits for and words that others change do not.
class ControlLayout {
public:
    static constexpr int most_rounds = 31; // of a barrier
    // The table of regions of a dynamic window. See regions.h.
    static constexpr Word regions_version = 0;
    static constexpr Word regions_count = 1;
    static constexpr Word regions_key = 2; // of the table: four words for each module by which the owner is reached
    static constexpr Word regions_words = 2 + 4 * 4;

    explicit ControlLayout(int size) noexcept
        : _size(Word(size)) {
        _next = line(regions_words);
        window_lock = take_lock();
        update_lock = take_lock();
        arrived = take(most_rounds);
        posted = take(_size);
        completed = take(_size);
    }

    LockWords window_lock; // MPI_Win_lock and MPI_Win_lock_all
    LockWords update_lock; // accumulates
    Word arrived = 0;      // + round of a barrier
    Word posted = 0;       // + target: how often it has called MPI_Win_post for this process
    Word completed = 0;    // + origin: how often it has called MPI_Win_complete for this process
    std::size_t bytes() const noexcept { return std::size_t(_next) * sizeof(std::uint64_t); }

private:
    static constexpr Word line(Word words) noexcept { return (words + 7) & ~Word(7); }
    Word take(Word words) noexcept {
        const Word first = _next;
        _next += line(words);
        return first;
    }
    LockWords take_lock() noexcept {
        LockWords words;
        words.tickets = take(3);
        words.read = words.tickets + 1;
        words.ended = words.tickets + 2;
        words.intent = take(_size);
        words.waiter = take(_size);
        words.granted = take(_size);
        return words;
    }

    Word _size;
    Word _next = 0;
};

} // namespace patchbay::osc::rdma
