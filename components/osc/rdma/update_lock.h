// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/osc/rdma/fair_lock.h"
#include "core/progress/lock.h"
#include "include/mpi.h"

#include <atomic>
#include <mutex>

namespace patchbay::osc::rdma {

// The lock for accumulates as this process uses it: it is one user of the lock of a member, and so its threads take
// turns.
class UpdateLock {
public:
    UpdateLock(Words& words, const LockWords& places, Progress& progress, const Failures& failures)
        : _lock(words, places, progress, failures),
          _threads(progress.threads()) {}

    // Calls `step` with the elements of `member` locked; `alone`: other processes cannot access them now, so that only
    // the threads of this one take turns. Returns an MPI code. May block.
    template <class Step>
    int with(int member, bool alone, const Step& step) noexcept {
        const std::lock_guard turn(_threads);
        _in_use.store(true, std::memory_order_relaxed);
        int code = alone ? int(MPI_SUCCESS) : _lock.acquire(member, true);
        if (code == MPI_SUCCESS) {
            code = step();
            const int released = alone ? int(MPI_SUCCESS) : _lock.release(member, true);
            code = code == MPI_SUCCESS ? released : code;
        }
        _in_use.store(false, std::memory_order_relaxed);
        return code;
    }

    // The same for a poller: where anybody has the lock or waits for it, `step` is not called and false is returned. It
    // may run inside of with() of the same thread, which ProgressLock does not notice while there is only one; hence
    // the flag.
    template <class Step>
    bool try_with(int member, bool alone, const Step& step) noexcept {
        if (alone) {
            return step(), true;
        }
        if (_in_use.load(std::memory_order_relaxed) || !_threads.try_lock()) {
            return false;
        }
        const bool locked = _lock.try_acquire(member);
        if (locked) {
            step();
            _lock.release(member, true); // of mapped words: cannot fail
        }
        _threads.unlock();
        return locked;
    }

private:
    FairLock _lock;
    ProgressLock _threads;
    std::atomic<bool> _in_use{false};
};

} // namespace patchbay::osc::rdma
