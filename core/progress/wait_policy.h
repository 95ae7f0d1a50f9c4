// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/param/spec.h"

#include <chrono>
#include <cstdint>

namespace [[gnu::visibility("default")]] patchbay {

// Parameters of the waiting policy; their full names are wait_<name>.
//
// Where the defaults come from (2 cores of a virtual machine): waking a sleeper on another core takes 28 us there, so a
// wait that sleeps after 200 us of spinning loses at most 14 % by it. With more ranks than cores, tests/core_runtime/
// waiter_bench 16 2 2000 200 Y gave for a barrier of 16 ranks on 2 cores 174 us when waits sleep at once (Y=0), 33 us
// with Y=20, 26 us with Y=100, and no better with 500 or 2000.
inline constexpr ParamSpec wait_params[] = {
    {"spin", ParamType::duration, "200us",
        "how long a wait polls without giving up its core, when every local rank has a core of its own", nullptr,
        ParamLevel::tuner_basic, ParamScope::local},
    {"yield", ParamType::duration, "100us",
        "how long a wait then polls with sched_yield between the polls, before it sleeps", nullptr,
        ParamLevel::tuner_basic, ParamScope::local},
    {"sleep", ParamType::boolean, "true", "whether a long wait sleeps in the kernel; false keeps yielding for ever",
        nullptr, ParamLevel::tuner_basic, ParamScope::local},
    {"oversubscribed", ParamType::enumeration, "auto",
        "whether local ranks share cores (then waits do not spin): auto counts ranks and usable cores", "auto,yes,no",
        ParamLevel::tuner_detail, ParamScope::local},
};

// The thresholds of one process, after "auto" has been decided. Times are wall-clock times since the wait began or
// since the last poll that found work.
struct WaitPolicy {
    std::chrono::nanoseconds spin{200'000};
    std::chrono::nanoseconds yield{100'000};
    bool sleep = true;
    // Polls made inline before the clock is looked at for the first time.
    std::uint32_t first_polls = 2000;
    // Bound of one sleep. A wake-up is never lost, so this is only how often a sleeper looks whether the world ended.
    std::chrono::nanoseconds longest_sleep{std::chrono::seconds(1)};
    // Bound of one sleep where the kernel refuses membarrier: then a sender may miss the flag.
    std::chrono::nanoseconds unfenced_sleep{std::chrono::milliseconds(1)};

    // This policy without spinning: where those that wait share cores, one that spins keeps the one for which it waits
    // from running.
    WaitPolicy on_shared_core() const noexcept;
    static WaitPolicy make(
        std::chrono::nanoseconds spin, std::chrono::nanoseconds yield, bool sleep, bool oversubscribed) noexcept;
};

} // namespace patchbay
