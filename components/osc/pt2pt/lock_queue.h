// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <deque>
#include <set>
#include <vector>

namespace patchbay::osc::pt2pt {

// The lock of the window in one process: who has it, and who waits. First come, first served: a shared lock waits
// behind an exclusive one that came before, also while the lock is held shared. The caller serialises the calls. The
// functions that add something may throw std::bad_alloc.
class LockQueue {
public:
    // true: `rank` has the lock now. false: a later release() or remove() grants it.
    bool request(int rank, bool exclusive);
    // The same for a shared lock of MPI_Win_lock_all, which waits for nobody but an exclusive holder. Its process may
    // hold the locks of other processes, in any order: if it waited behind those who wait here for a holder that in
    // turn waits for such a lock, nobody would go on.
    bool request_ahead(int rank);
    // `rank`, which has the lock, gives it back. Appends those that have it from now on to `granted`. false: `rank` did
    // not have it.
    bool release(int rank, std::vector<int>* granted);
    // `rank` has failed: it neither has the lock nor waits any more.
    void remove(int rank, std::vector<int>* granted);

    bool is_held_by(int rank) const noexcept { return _holders.contains(rank); }
    bool has_waiters() const noexcept { return !_waiting.empty(); }
    const std::set<int>& holders() const noexcept { return _holders; }

private:
    struct Waiter {
        int rank;
        bool exclusive;
        bool ahead; // of request_ahead()
    };

    void grant(std::vector<int>* granted);

    std::set<int> _holders;
    bool _exclusive = false; // how they have it
    std::deque<Waiter> _waiting;
};

} // namespace patchbay::osc::pt2pt
