// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <map>
#include <mutex>

namespace patchbay::osc::pt2pt {

class Pt2pt;

// A lock that a thread has asked for and that may not be held yet: the window by its number, and the target.
struct AskedLock {
    std::uint64_t window = 0; // 0: none
    int rank = 0;
};

// The windows of this process that exist, by numbers that are never used again. A thread remembers the lock that it has
// asked for last (AskedLock), which may be one of a window that another thread has freed since.
class LockOrder {
public:
    // Throws std::bad_alloc.
    static std::uint64_t enter(Pt2pt& window);
    static void leave(std::uint64_t window) noexcept;

    // Holds the windows back from being freed.
    class Search {
    public:
        Search();
        // nullptr: it has been freed.
        Pt2pt* find(std::uint64_t window) const noexcept;

    private:
        std::lock_guard<std::mutex> _lock;
    };

    // Of the calling thread.
    static thread_local AskedLock last_asked;
};

} // namespace patchbay::osc::pt2pt
