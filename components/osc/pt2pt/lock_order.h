// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/list.h"

#include <cstdint>
#include <mutex>

namespace patchbay::osc::pt2pt {

class Pt2pt;

// A lock that a thread has asked for and that may not be held yet: the window by its number, and the target.
struct AskedLock {
    std::uint64_t window = 0; // 0: none
    int rank = 0;
};

// A window of this process in the list of those that exist, with a number that is never used again. A thread remembers
// the lock that it has asked for last (AskedLock), which may be one of a window that another thread has freed since.
class NumberedWindow {
public:
    explicit NumberedWindow(Pt2pt& window) noexcept;
    ~NumberedWindow();
    NumberedWindow(const NumberedWindow&) = delete;
    NumberedWindow& operator=(const NumberedWindow&) = delete;

    std::uint64_t number() const noexcept { return _number; }

    // Holds the windows back from leaving the list.
    class Search {
    public:
        Search() noexcept;
        // nullptr: it has been freed.
        Pt2pt* find(std::uint64_t number) const noexcept;

    private:
        std::lock_guard<std::mutex> _lock;
    };

    // Of the calling thread.
    static thread_local AskedLock last_asked;

private:
    friend class Search;
    Pt2pt& _window;
    std::uint64_t _number = 0;
    Link<NumberedWindow> _link;
    // Without destructors: a program may free windows in its static ones, after those of this component.
    static constinit std::mutex _mutex;
    static constinit List<NumberedWindow, &NumberedWindow::_link> _all;
    static constinit std::uint64_t _last;
};

} // namespace patchbay::osc::pt2pt
