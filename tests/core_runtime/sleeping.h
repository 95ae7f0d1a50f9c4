// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/wait_policy.h"

#include <chrono>
#include <ctime>

namespace patchbay::test {

// No spinning, no yielding, and sleeps that never end by themselves: one wake-up lost is a hang.
inline WaitPolicy always_sleep() {
    WaitPolicy policy;
    policy.spin = std::chrono::nanoseconds(0);
    policy.yield = std::chrono::nanoseconds(0);
    policy.first_polls = 1;
    policy.longest_sleep = std::chrono::hours(24);
    return policy;
}

// The processor time that this process has used.
inline double cpu_seconds() {
    timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

} // namespace patchbay::test
