// SPDX-License-Identifier: BSD-3-Clause
#include "core/progress/progress.h"

#include <gtest/gtest.h>
#include <mutex>
#include <thread>
#include <vector>

namespace patchbay {
namespace {

int count_call(void* counter) noexcept {
    ++*static_cast<int*>(counter);
    return 1;
}

TEST(Progress, PollsEveryPollerAndSumsTheirEvents) {
    Progress progress;
    EXPECT_EQ(progress.poll(), 0);
    int first = 0;
    int second = 0;
    PollerHandle one = progress.add_poller(count_call, &first);
    PollerHandle two = progress.add_poller(count_call, &second);
    EXPECT_EQ(progress.poll(), 2);
    one.reset();
    EXPECT_EQ(progress.poll(), 1);
    EXPECT_EQ(first, 1);
    EXPECT_EQ(second, 2);
    two = PollerHandle();
    EXPECT_EQ(progress.poll(), 0);
}

// A poller for each counter.
std::vector<PollerHandle> add_pollers(Progress& progress, std::vector<int>& counters) {
    std::vector<PollerHandle> handles;
    for (int& counter : counters) {
        handles.push_back(progress.add_poller(count_call, &counter));
    }
    return handles;
}

TEST(Progress, TakesMorePollersThanOneBlockHolds) {
    Progress progress;
    std::vector<int> calls(100);
    std::vector<PollerHandle> handles = add_pollers(progress, calls);
    EXPECT_EQ(progress.poll(), 100);
    for (std::size_t i = 0; i < handles.size(); i += 2) {
        handles[i].reset();
    }
    EXPECT_EQ(progress.poll(), 50);
    handles.clear();
    EXPECT_EQ(progress.poll(), 0);
}

TEST(Progress, PollsALaterBlockWhoseEarlierOnesAreEmpty) {
    Progress progress;
    std::vector<int> calls(40);
    std::vector<PollerHandle> handles = add_pollers(progress, calls);
    handles.erase(handles.begin(), handles.end() - 1);
    EXPECT_EQ(progress.poll(), 1);
    EXPECT_EQ(calls.back(), 1);
}

struct Mutator {
    Progress* progress;
    PollerHandle own;
    PollerHandle other;
    PollerHandle added;
    int added_calls = 0;
};

TEST(Progress, PollersMayRemoveThemselvesAndOthersAndAddNewOnes) {
    Progress progress;
    Mutator mutator;
    mutator.progress = &progress;
    int other_calls = 0;
    mutator.own = progress.add_poller(
        [](void* context) noexcept {
            auto* self = static_cast<Mutator*>(context);
            self->own.reset();
            self->other.reset();
            self->added = self->progress->add_poller(count_call, &self->added_calls);
            return 1;
        },
        &mutator);
    mutator.other = progress.add_poller(count_call, &other_calls);
    progress.poll();
    EXPECT_EQ(other_calls, 0);
    int before = mutator.added_calls;
    EXPECT_EQ(progress.poll(), 1);
    EXPECT_EQ(mutator.added_calls, before + 1);
}

struct Exclusive {
    std::atomic<int> inside{0};
    std::atomic<bool> overlapped{false};
    int unguarded = 0;
};

TEST(Progress, OneThreadPollsAtATimeWhileOthersAddAndRemove) {
    Progress progress(true);
    Exclusive exclusive;
    PollerHandle steady = progress.add_poller(
        [](void* context) noexcept {
            auto* self = static_cast<Exclusive*>(context);
            if (self->inside.fetch_add(1) != 0) {
                self->overlapped = true;
            }
            ++self->unguarded;
            self->inside.fetch_sub(1);
            return 1;
        },
        &exclusive);
    std::vector<std::thread> threads;
    std::atomic<int> polled{0};
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&] {
            for (int i = 0; i < 20000; ++i) {
                polled += progress.poll() > 0;
            }
        });
    }
    for (int thread = 0; thread < 2; ++thread) {
        threads.emplace_back([&] {
            for (int i = 0; i < 2000; ++i) {
                auto calls = std::make_unique<int>(0);
                PollerHandle handle = progress.add_poller(count_call, calls.get());
                handle.reset();
                progress.quiesce(); // only now may the counter go
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_FALSE(exclusive.overlapped);
    EXPECT_EQ(exclusive.unguarded, polled);
}

TEST(Progress, ItsThreadPollsAloneBesideOthers) {
    Progress progress(true, {}, Progress::PolledBy::own_thread);
    struct Seen {
        Progress* progress;
        int polls = 0, outside = 0;
    } seen{&progress};
    PollerHandle handle = progress.add_poller(
        [](void* context) noexcept {
            auto* self = static_cast<Seen*>(context);
            ++self->polls;
            self->outside += !self->progress->is_in_poll();
            return 0;
        },
        &seen);
    std::atomic<bool> stop{false};
    std::thread other([&] {
        while (!stop) {
            progress.wake();
            progress.quiesce(); // that of another thread has no end to wait for
        }
    });
    for (int i = 0; i < 1000; ++i) {
        EXPECT_EQ(progress.poll(), 0);
        EXPECT_FALSE(progress.is_in_poll());
        bool has_run = false;
        EXPECT_TRUE(progress.run_alone([&] { has_run = progress.is_in_poll(); }));
        EXPECT_TRUE(has_run);
    }
    stop = true;
    other.join();
    EXPECT_EQ(seen.polls, 1000);
    EXPECT_EQ(seen.outside, 0);
}

TEST(Progress, APollWithinAPollDoesNotBlock) {
    Progress progress(true);
    struct Nested {
        Progress* progress;
        int depth = 0;
    } nested{&progress};
    PollerHandle handle = progress.add_poller(
        [](void* context) noexcept {
            auto* self = static_cast<Nested*>(context);
            if (self->depth == 0) {
                ++self->depth;
                self->progress->poll();
                self->progress->quiesce();
            }
            return 1;
        },
        &nested);
    EXPECT_EQ(progress.poll(), 1);
    EXPECT_EQ(nested.depth, 1);
}

TEST(ProgressLock, IsNothingBelowThreadMultiple) {
    ProgressLock lock(false);
    lock.lock();
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
}

TEST(ProgressLock, ExcludesThreads) {
    ProgressLock lock(true);
    long counter = 0;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&] {
            for (int i = 0; i < 50000; ++i) {
                std::lock_guard hold(lock);
                ++counter;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(counter, 200000);
    EXPECT_TRUE(lock.try_lock());
    EXPECT_FALSE(lock.try_lock());
    lock.unlock();
}

} // namespace
} // namespace patchbay
