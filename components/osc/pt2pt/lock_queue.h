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
    enum class Answer {
        granted,
        waits,   // a later release() or fail() grants or refuses it
        refused, // it would wait for a process that has failed
    };

    Answer request(int rank, bool exclusive);
    // The same for a shared lock of MPI_Win_lock_all, which waits for nobody but an exclusive holder. Its process may
    // hold the locks of other processes, in any order: if it waited behind those who wait here for a holder that in
    // turn waits for such a lock, nobody would go on.
    Answer request_ahead(int rank);
    // `rank`, which has the lock, gives it back. Appends those that have it from now on to `granted`. false: `rank` did
    // not have it.
    bool release(int rank, std::vector<int>* granted);
    // `rank` has failed. If it has the lock or waits for it, it keeps its place for ever: what a holder was changing
    // may be incomplete, and where it stood in the line must not depend on when its failure is known. Those who wait
    // for it leave the line, appended to `refused`; those who may go on now are appended to `granted`.
    void fail(int rank, std::vector<int>* granted, std::vector<int>* refused);

    bool is_held_by(int rank) const noexcept { return _holders.contains(rank); }
    bool has_waiters() const noexcept { return !_waiting.empty(); }
    // Calls act(rank) for each process that has the lock or waits for it.
    template <class Act>
    void for_each_user(const Act& act) const {
        for (const int rank : _holders) {
            act(rank);
        }
        for (const Waiter& waiter : _waiting) {
            act(waiter.rank);
        }
    }

private:
    struct Waiter {
        int rank;
        bool exclusive;
        bool ahead; // of request_ahead()
        bool failed = false;
    };

    bool must_wait(bool exclusive) const noexcept { return !_holders.empty() && (_exclusive || exclusive); }
    bool is_lost(bool exclusive) const noexcept;
    void grant(std::vector<int>* granted);

    std::set<int> _holders;
    bool _exclusive = false;     // how they have it
    bool _holder_failed = false; // one of them, which never gives it back
    std::deque<Waiter> _waiting;
};

} // namespace patchbay::osc::pt2pt
