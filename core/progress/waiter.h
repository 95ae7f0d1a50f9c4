// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/progress.h"

#include <chrono>
#include <type_traits>

namespace [[gnu::visibility("default")]] patchbay {

namespace detail {
// The part of a wait that is past its first polls: spin, yield, sleep. false: the time was up.
bool wait_slowly(Progress& progress, bool (*done)(void*), void* context, std::chrono::nanoseconds limit) noexcept;
} // namespace detail

// THE way to wait in this library. Polls until done() is true: spins first, then yields, then sleeps on the process's
// doorbell, with the thresholds of progress.policy(). done() is called often, must be cheap and may only look at what
// changes through a poller, through a thread that calls Progress::wake(), or through a peer that rings our doorbell.
// With several threads in a wait one polls; a completion that a poll brings wakes the sleeping threads.
// Do not hold a lock that a poller takes.
template <class Done>
inline void wait_until(Progress& progress, Done&& done) {
    if (done()) {
        return;
    }
    for (std::uint32_t polls = progress.policy().first_polls; polls != 0; --polls) {
        progress.poll();
        if (done()) {
            return;
        }
    }
    using Plain = std::remove_reference_t<Done>;
    detail::wait_slowly(
        progress, [](void* context) -> bool { return (*static_cast<Plain*>(context))(); },
        const_cast<void*>(static_cast<const void*>(&done)), std::chrono::nanoseconds::max());
}

// The same with a time limit; returns whether done() became true.
template <class Done>
inline bool wait_for(Progress& progress, std::chrono::nanoseconds limit, Done&& done) {
    using Plain = std::remove_reference_t<Done>;
    return done() ||
        detail::wait_slowly(
            progress, [](void* context) -> bool { return (*static_cast<Plain*>(context))(); },
            const_cast<void*>(static_cast<const void*>(&done)), limit);
}

} // namespace patchbay
