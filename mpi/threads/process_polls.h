// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/progress.h"

#include <atomic>
#include <sched.h>

namespace patchbay::threads {

// The waits of the threads of one process go on with what their process has with others, too (MPI-5.0, 2.9). Where
// there are ranks in other processes the carrier does that. One thread polls at a time, and only while this is open:
// the library locks then.
class ProcessPolls {
public:
    void open() noexcept { change(true); }
    // No poll is under way afterwards.
    void close() noexcept { change(false); }
    int poll(Progress& process) noexcept {
        if (_polling.test_and_set(std::memory_order_acquire)) {
            return 0;
        }
        const int events = _is_open ? process.poll() : 0;
        _polling.clear(std::memory_order_release);
        return events;
    }

private:
    void change(bool open) noexcept {
        while (_polling.test_and_set(std::memory_order_acquire)) {
            sched_yield(); // the thread that polls may have no core
        }
        _is_open = open;
        _polling.clear(std::memory_order_release);
    }

    std::atomic_flag _polling{}; // protects the member below
    bool _is_open = false;
};

} // namespace patchbay::threads
