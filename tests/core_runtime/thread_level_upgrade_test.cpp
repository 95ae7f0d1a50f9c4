// SPDX-License-Identifier: BSD-3-Clause
// A second thread begins to use the library while the first one is at any point inside it.
#include "core/progress/waiter.h"

#include <atomic>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>
#include <vector>

namespace patchbay {
namespace {
using namespace std::chrono_literals;

TEST(ThreadLevelUpgrade, TheSingleThreadIsWaitedFor) {
    for (int round = 0; round < 300; ++round) {
        Progress progress;
        ProgressLock lock(progress.threads());
        long counter = 0; // both threads change it under the lock alone
        std::atomic<bool> running{false};
        std::thread first([&] {
            for (int i = 0; i < 20000; ++i) {
                std::lock_guard hold(lock);
                ++counter;
                running.store(true, std::memory_order_relaxed);
            }
        });
        while (!running.load(std::memory_order_relaxed)) {
        }
        progress.enable_threads();
        for (int i = 0; i < 20000; ++i) {
            std::lock_guard hold(lock);
            ++counter;
        }
        first.join();
        ASSERT_EQ(counter, 40000);
    }
}

// The thread that is waited for makes and destroys locks, as in a poll that makes a channel.
TEST(ThreadLevelUpgrade, LocksAreMadeInASection) {
    Progress progress;
    ProgressLock lock(progress.threads());
    std::atomic<bool> entered{false};
    std::atomic<bool> is_waited_for{false};
    std::thread first([&] {
        const std::lock_guard hold(lock);
        entered = true;
        while (!is_waited_for) {
            std::this_thread::yield();
        }
        const ProgressLock made(progress.threads());
    });
    while (!entered) {
        std::this_thread::yield();
    }
    const auto wake = [](void* flag) { *static_cast<std::atomic<bool>*>(flag) = true; };
    progress.threads().turn_on(wake, &is_waited_for);
    first.join();
}

// Only one thread is in a poller at any time, also when the second thread starts during a poll of the first one.
struct Exclusive {
    std::atomic<int> inside{0};
    std::atomic<bool> overlapped{false};
    long polls = 0;
};

int poll_exclusive(void* context) noexcept {
    auto* self = static_cast<Exclusive*>(context);
    if (self->inside.fetch_add(1, std::memory_order_relaxed) != 0) {
        self->overlapped = true;
    }
    ++self->polls;
    self->inside.fetch_sub(1, std::memory_order_relaxed);
    return 0;
}

TEST(ThreadLevelUpgrade, OneThreadPollsAtATime) {
    for (int round = 0; round < 300; ++round) {
        Progress progress;
        Exclusive exclusive;
        PollerHandle poller = progress.add_poller(poll_exclusive, &exclusive);
        std::atomic<bool> running{false};
        std::thread first([&] {
            for (int i = 0; i < 5000; ++i) {
                progress.poll();
                running.store(true, std::memory_order_relaxed);
            }
        });
        while (!running.load(std::memory_order_relaxed)) {
        }
        progress.enable_threads();
        for (int i = 0; i < 5000; ++i) {
            progress.poll();
        }
        first.join();
        ASSERT_FALSE(exclusive.overlapped);
    }
}

// Both threads sleep until the doorbell rings; either of them may poll an event for the other.
struct Events {
    std::atomic<unsigned> arrived{0};
    unsigned handled = 0;
    std::atomic<unsigned> done[2]{};
};

int deliver(void* context) noexcept {
    auto* arrivals = static_cast<Events*>(context);
    int events = 0;
    while (arrivals->handled != arrivals->arrived.load(std::memory_order_acquire)) {
        arrivals->done[arrivals->handled++ % 2].fetch_add(1, std::memory_order_release);
        ++events;
    }
    return events;
}

// Several threads poll, one is left, and several begin again, as the regions of a thread communicator do.
TEST(ThreadLevelUpgrade, ThreadsComeAgainAfterOneWasAlone) {
    Progress progress;
    for (int round = 0; round < 200; ++round) {
        progress.enable_threads();
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&progress] {
                for (int polls = 0; polls < 2000; ++polls) {
                    progress.poll();
                }
            });
        }
        for (std::thread& one : threads) {
            one.join();
        }
        progress.disable_threads();
        progress.poll();
    }
}

TEST(ThreadLevelUpgrade, ASleepingThreadWakesAndNoWakeUpIsLost) {
    WaitPolicy policy;
    policy.spin = 0ns;
    policy.yield = 0ns;
    policy.first_polls = 1;
    policy.longest_sleep = 24h;
    for (int round = 0; round < 200; ++round) {
        Progress progress(false, policy);
        Events arrivals;
        PollerHandle poller = progress.add_poller(deliver, &arrivals);
        constexpr unsigned event_count = 30;
        const auto wait_for_all = [&](int id) {
            for (unsigned number = 1; number <= event_count; ++number) {
                wait_until(progress, [&] { return arrivals.done[id].load(std::memory_order_acquire) >= number; });
            }
        };
        std::thread first([&] { wait_for_all(0); });
        if (round % 2 == 0) {
            while (!progress.doorbell().flag_is_up()) {
                std::this_thread::yield();
            }
        }
        progress.enable_threads();
        std::thread second([&] { wait_for_all(1); });
        for (unsigned number = 1; number <= 2 * event_count; ++number) {
            arrivals.arrived.store(number, std::memory_order_release);
            progress.doorbell().notify();
            if (number % 3 == 0) {
                std::this_thread::sleep_for(1us);
            }
        }
        first.join();
        second.join();
    }
}

} // namespace
} // namespace patchbay
