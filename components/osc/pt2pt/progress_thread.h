// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/progress.h"

#include <atomic>
#include <thread>

namespace patchbay::osc::pt2pt {

// A thread that makes progress while the program computes: parameter osc_pt2pt_progress. It is a wait of the library
// without an end, so that it sleeps on the process's doorbell when nothing happens.
class ProgressThread {
public:
    // Throws std::system_error.
    explicit ProgressThread(Progress& progress);
    ~ProgressThread();
    ProgressThread(const ProgressThread&) = delete;
    ProgressThread& operator=(const ProgressThread&) = delete;

private:
    Progress& _progress;
    std::atomic<bool> _end{false};
    std::thread _thread;
};

} // namespace patchbay::osc::pt2pt
