// SPDX-License-Identifier: BSD-3-Clause
#include "core/progress/waiter.h"

#include <algorithm>
#include <sched.h>
#include <time.h>

namespace patchbay {

namespace {
using std::chrono::nanoseconds;

constexpr nanoseconds for_ever = nanoseconds::max();
// Polls between two looks at the clock while spinning: a look costs about as much as a few polls of an empty ring.
constexpr int polls_per_look = 32;
// A thread that waits on the Progress of the process sleeps no longer than that where it has one of its own, too, whose
// bell may be another.
constexpr nanoseconds longest_sleep_beside = std::chrono::milliseconds(1);

nanoseconds now() noexcept {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return nanoseconds(time.tv_sec * 1'000'000'000LL + time.tv_nsec);
}

enum class Slept { found_work, rung, timed_out };
} // namespace

WaitPolicy WaitPolicy::make(nanoseconds spin, nanoseconds yield, bool sleep, bool oversubscribed) noexcept {
    WaitPolicy policy;
    policy.spin = spin;
    policy.yield = yield;
    policy.sleep = sleep;
    return oversubscribed || spin.count() == 0 ? policy.on_shared_core() : policy;
}

WaitPolicy WaitPolicy::on_shared_core() const noexcept {
    WaitPolicy policy = *this;
    policy.spin = nanoseconds(0);
    policy.first_polls = 1;
    return policy;
}

// The waiter's view of Progress.
struct WaitAccess {
    Progress& progress;
    Progress* beside;     // of the thread, or nullptr
    bool counted = false; // among the waiters that are awake: from when there may be several

    int poll() noexcept {
        const int events = progress.poll();
        return beside == nullptr ? events : events + beside->poll();
    }

    void enter() noexcept {
        if (!counted && progress.threaded()) {
            progress._awake_waiters.fetch_add(1, std::memory_order_seq_cst);
            counted = true;
        }
    }
    // Threads may sleep because this one was awake and polled; if so, one of them must take over.
    void leave() noexcept {
        if (counted) {
            progress._awake_waiters.fetch_sub(1, std::memory_order_seq_cst);
        }
        if (progress.threaded()) {
            progress.doorbell().notify();
        }
    }

    nanoseconds longest_sleep(nanoseconds left) const noexcept {
        const WaitPolicy& policy = progress.policy();
        nanoseconds longest = progress._fenced ? policy.longest_sleep : policy.unfenced_sleep;
        longest = std::min(longest, nanoseconds(progress._longest_sleep_ns.load(std::memory_order_relaxed)));
        if (beside != nullptr) {
            longest = std::min(longest, longest_sleep_beside);
        }
        return std::min(longest, left);
    }

    // For MPI_T: what a sleep has taken.
    void note(Slept slept, nanoseconds time) noexcept {
        if (slept != Slept::found_work) {
            progress._sleeps.fetch_add(1, std::memory_order_relaxed);
            progress._asleep_ns.fetch_add(std::uint64_t(time.count()), std::memory_order_relaxed);
        }
    }

    Slept sleep(bool (*done)(void*), void* context, nanoseconds left) noexcept {
        const bool alone = progress._sleeping_alone.enter();
        if (!alone) {
            enter();
        }
        Doorbell& bell = progress.doorbell();
        std::uint32_t seq = bell.prepare();
        // From here on either a sender sees the flag, or what it published before is seen by the poll below.
        all_cores_barrier();
        if (!alone) {
            return sleep_among_threads(bell, seq, done, context, left);
        }
        const Slept slept = sleep_alone(bell, seq, done, context, left);
        progress._sleeping_alone.leave(); // until here no other thread sleeps behind the flag
        return slept;
    }

    // The flag stays up where threads with a Progress of their own may sleep behind it, too.
    void cancel(Doorbell& bell) noexcept {
        if (!progress.has_beside()) {
            bell.cancel();
        }
    }

    Slept sleep_alone(
        Doorbell& bell, std::uint32_t seq, bool (*done)(void*), void* context, nanoseconds left) noexcept {
        if (progress.poll() > 0 || done(context)) {
            cancel(bell);
            return Slept::found_work;
        }
        bool rung = progress.sleep(bell, seq, longest_sleep(left));
        cancel(bell);
        return rung ? Slept::rung : Slept::timed_out;
    }

    // The flag is never lowered here, only by ring(): other threads may sleep behind it. A flag left up costs the next
    // sender one needless system call.
    Slept sleep_among_threads(
        Doorbell& bell, std::uint32_t seq, bool (*done)(void*), void* context, nanoseconds left) noexcept {
        bool last_awake = progress._awake_waiters.fetch_sub(1, std::memory_order_seq_cst) == 1;
        int events = last_awake ? progress.try_poll() : 0;
        Slept slept = Slept::found_work;
        if (events == 0 && !done(context)) {
            slept = progress.sleep(bell, seq, longest_sleep(left)) ? Slept::rung : Slept::timed_out;
        } else if (events == Progress::busy) {
            // A thread that only tests polls just now and may have passed the poller that has our work.
            sched_yield();
            slept = Slept::timed_out;
        }
        progress._awake_waiters.fetch_add(1, std::memory_order_seq_cst);
        return slept;
    }
};

bool detail::wait_slowly(Progress& progress, bool (*done)(void*), void* context, nanoseconds limit) noexcept {
    WaitAccess access{progress, progress.beside()};
    access.enter();
    nanoseconds idle_since = now();
    nanoseconds deadline = limit < for_ever - idle_since ? idle_since + limit : for_ever;
    bool spinning = progress.policy().spin.count() > 0;
    bool satisfied = false;
    for (;;) {
        int events = 0;
        for (int polls = spinning ? polls_per_look : 1; polls > 0 && !satisfied; --polls) {
            events += access.poll();
            satisfied = done(context);
        }
        if (satisfied) {
            break;
        }
        nanoseconds time = now();
        if (time >= deadline) {
            break;
        }
        if (events > 0) {
            idle_since = time;
        }
        const nanoseconds idle = time - idle_since;
        const WaitPolicy& policy = progress.policy();
        spinning = idle < policy.spin;
        if (spinning) {
            continue;
        }
        if (!policy.sleep || idle - policy.spin < policy.yield) {
            sched_yield();
            continue;
        }
        const Slept slept = access.sleep(done, context, deadline - time);
        const nanoseconds woken = now();
        access.note(slept, woken - time);
        if (slept != Slept::timed_out) {
            idle_since = woken;
            spinning = progress.policy().spin.count() > 0;
        }
    }
    access.leave();
    return satisfied;
}

} // namespace patchbay
