// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/progress.h"

#include <sched.h>

namespace [[gnu::visibility("default")]] patchbay {

// The poll of a function that tests and returns, such as MPI_Test or MPI_Iprobe. Where local ranks share cores, a poll
// that finds nothing gives up the core, as a wait does: a program that tests in a loop would otherwise keep it for a
// whole time slice from the rank whose message it tests for. Returns the number of events.
inline int poll_or_yield(Progress& progress) noexcept {
    int events = progress.poll();
    if (progress.has_beside()) [[unlikely]] {
        events += progress.poll_beside();
    }
    if (events == 0 && progress.policy().spin.count() == 0) [[unlikely]] {
        sched_yield();
    }
    return events;
}

} // namespace patchbay
