// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/common/failed_attempts.h"

#include <chrono>
#include <string_view>

namespace patchbay {
class Runtime;
}

namespace patchbay::pml::ob1 {

// Times how long this process has lacked memory for something that another process waits for: a packet that has
// arrived, a reply, the rest of a message. When attempts have failed for longer than the limit, and none has succeeded
// in that time, they are given up.
class Shortage {
public:
    Shortage(Runtime& runtime, std::chrono::nanoseconds limit) noexcept
        : _runtime(runtime),
          _limit(limit) {}

    // An attempt has failed. true: the shortage has lasted for longer than the limit.
    bool lasts() noexcept { return _attempts.add() >= _limit; }
    // The same; ends the job with this text if the shortage has lasted too long, because no MPI call could return the
    // error.
    void wait(std::string_view text) noexcept {
        if (lasts()) {
            end_job(text);
        }
    }
    // An attempt has succeeded, or has been given up.
    void over() noexcept { _attempts.end(); }
    [[noreturn]] void end_job(std::string_view text) noexcept;

private:
    Runtime& _runtime; // only to end the job
    const std::chrono::nanoseconds _limit;
    FailedAttempts _attempts;
};

} // namespace patchbay::pml::ob1
