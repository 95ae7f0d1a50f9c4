// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"

#include <atomic>

namespace [[gnu::visibility("default")]] patchbay {

// Makes the k-th init step (from 1) that asks it fail, once; 0 makes none fail. Tests walk k upwards until an init
// passes, and so fail every step there is. Set from the parameter `fault_step`, or passed in by a unit test.
class FaultPlan {
public:
    explicit FaultPlan(int fail_at = 0)
        : _fail_at(fail_at) {}

    Status check(const char* step);
    void fail_at(int step) { // counts from here
        _seen.store(0, std::memory_order_relaxed);
        _fail_at.store(step, std::memory_order_relaxed);
    }
    int steps_seen() const { return _seen.load(std::memory_order_relaxed); }

private:
    std::atomic<int> _fail_at;
    std::atomic<int> _seen = 0;
};

} // namespace patchbay
