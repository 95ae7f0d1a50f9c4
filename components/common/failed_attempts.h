// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <chrono>

namespace patchbay {

// Times for how long a process has attempted something in vain for which another process waits, because it lacks
// memory or a descriptor. Each poll repeats the attempt, because the program may give something back meanwhile.
class FailedAttempts {
public:
    // An attempt has failed. Returns the time for which all attempts have failed.
    std::chrono::nanoseconds add() noexcept {
        // The process may not have polled for a long time, in which nothing was attempted.
        constexpr auto longest_gap = std::chrono::seconds(1);
        const auto now = Clock::now();
        if (_began == Clock::time_point{} || now - _last > longest_gap) {
            _began = now;
        }
        _last = now;
        return now - _began;
    }
    // An attempt has succeeded, or the process gives up.
    void end() noexcept { _began = {}; }

private:
    using Clock = std::chrono::steady_clock;

    Clock::time_point _began{}; // zero: no attempt has failed
    Clock::time_point _last{};  // failed attempt
};

} // namespace patchbay
