// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/progress.h"

#include <sched.h>

namespace patchbay::threads {

// One of the threads of this process that are ranks of thread communicators. While they are more than the cores that
// they may run on, the waits of none of them spin, because a thread that spins may keep the one for which it waits from
// running. All thread communicators that are active count, so that this changes while threads wait.
class CoreShare {
public:
    // The calling thread, whose waits are those of `progress`. `cores`: how many cores of the node there are for each
    // process of it. `threads`: it will wait for others of this process, so many with itself. Throws std::bad_alloc.
    CoreShare(Progress& progress, unsigned cores, int threads);
    ~CoreShare();
    CoreShare(const CoreShare&) = delete;
    CoreShare& operator=(const CoreShare&) = delete;

    // The same number for a further thread communicator.
    void expect(int threads) noexcept;

private:
    friend class CoreShares;

    Progress& _progress;
    const unsigned _cores;
    unsigned _expected;
};

} // namespace patchbay::threads
