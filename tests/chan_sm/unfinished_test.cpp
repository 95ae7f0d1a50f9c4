// SPDX-License-Identifier: BSD-3-Clause
// The poller of what cannot be finished at once, with threads that add, poll, finish and remove at the same time.
#include "components/chan/sm/unfinished.h"
#include "object/communicator.h"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

// A communicator belongs to mpi, which is not linked; none is referenced.
void patchbay::Communicator::destroy(Communicator*) noexcept {}

namespace patchbay::chan::sm {
namespace {

// Needs some rounds each time that it is started.
class Work : public Unfinished {
public:
    Work(Progress& progress, UnfinishedList& list)
        : Unfinished(progress),
          _list(list) {}
    ~Work() { _list.remove(*this); }

    void start(int rounds) {
        if (is_listed()) {
            const std::lock_guard hold(lock());
            _left += rounds;
        } else {
            _left += rounds;
        }
        _list.add(*this);
    }
    int left() {
        const std::lock_guard hold(lock());
        return _left;
    }
    bool go_on(int* events) noexcept override {
        if (_left > 0) {
            --_left;
            ++*events;
        }
        return _left > 0;
    }

private:
    UnfinishedList& _list;
    int _left = 0; // plain: a data race is found by the thread sanitizer
};

TEST(UnfinishedList, IsPolledUntilNothingIsLeft) {
    Progress progress;
    UnfinishedList list(progress);
    Work first(progress, list);
    Work second(progress, list);
    EXPECT_EQ(progress.poll(), 0);
    first.start(2);
    second.start(1);
    second.start(0); // is in the list already
    EXPECT_EQ(progress.poll(), 2);
    EXPECT_FALSE(second.is_listed());
    EXPECT_TRUE(first.is_listed());
    EXPECT_EQ(progress.poll(), 1);
    EXPECT_FALSE(first.is_listed());
    EXPECT_EQ(progress.poll(), 0);
    second.start(1);
    EXPECT_EQ(progress.poll(), 1);
}

TEST(UnfinishedList, WhatIsRemovedIsNotPolled) {
    Progress progress;
    UnfinishedList list(progress);
    Work first(progress, list);
    {
        Work second(progress, list);
        first.start(3);
        second.start(3);
    }
    EXPECT_EQ(progress.poll(), 1);
    EXPECT_EQ(progress.poll(), 1);
}

TEST(UnfinishedList, ThreadsAddAndPollAtOnce) {
    Progress progress(true);
    UnfinishedList list(progress);
    constexpr int threads = 4, repeats = 2000;
    std::vector<std::thread> running;
    for (int thread = 0; thread < threads; ++thread) {
        running.emplace_back([&, thread] {
            progress.enable_threads();
            for (int i = 0; i < repeats; ++i) {
                Work work(progress, list);
                work.start(1 + (i + thread) % 3);
                work.start(1);
                while (work.left() > 0) {
                    progress.poll();
                }
            }
        });
    }
    for (std::thread& thread : running) {
        thread.join();
    }
    EXPECT_EQ(progress.poll(), 0);
}

} // namespace
} // namespace patchbay::chan::sm
