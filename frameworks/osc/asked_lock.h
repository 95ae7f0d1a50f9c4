// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

namespace patchbay::osc {

class Module;

// The last lock that the calling thread has asked for and that it may not hold yet (lock_order.h).
struct AskedLock {
    std::uint64_t module = 0; // its number; 0: there is none
    int rank = 0;
};
extern constinit thread_local AskedLock asked_lock;

void hold_asked_lock(const Module& next, int rank, AskedLock asked) noexcept;

inline constexpr int all_ranks = -1;
// Called before the calling thread asks for the lock of `rank`, or of all members (all_ranks). May block.
inline void hold_asked_lock(const Module& next, int rank) noexcept {
    if (asked_lock.module != 0) [[unlikely]] {
        hold_asked_lock(next, rank, asked_lock);
    }
}

} // namespace patchbay::osc
