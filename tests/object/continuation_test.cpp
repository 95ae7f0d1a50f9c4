// SPDX-License-Identifier: BSD-3-Clause
#include "tests/object/test_request.h"

#include <gtest/gtest.h>
#include <memory>
#include <thread>
#include <vector>

namespace patchbay {
namespace {

std::vector<std::unique_ptr<TestRequest>> make_requests(Progress& progress, int count) {
    std::vector<std::unique_ptr<TestRequest>> requests;
    for (int i = 0; i < count; ++i) {
        requests.push_back(std::make_unique<TestRequest>(progress));
    }
    return requests;
}

TEST(Continuation, RunsInThePollAfterTheLastCompletion) {
    Progress progress;
    TestContinuation continuation(progress);
    const auto requests = make_requests(progress, 3);
    continuation.open();
    for (const auto& request : requests) {
        EXPECT_TRUE(request->attach(continuation));
    }
    EXPECT_FALSE(continuation.close());
    for (const auto& request : requests) {
        EXPECT_EQ(progress.poll(), 0);
        request->complete();
        EXPECT_EQ(continuation.runs, 0) << "nothing runs in the context of the completion";
    }
    EXPECT_EQ(progress.poll(), 1);
    EXPECT_EQ(continuation.runs, 1);
    EXPECT_EQ(progress.poll(), 0);
}

TEST(Continuation, IsNotRunWhenAllIsCompleteAlready) {
    Progress progress;
    TestContinuation continuation(progress);
    const auto requests = make_requests(progress, 3);
    requests[0]->complete();
    continuation.open();
    EXPECT_FALSE(requests[0]->attach(continuation)) << "it was complete";
    EXPECT_TRUE(requests[1]->attach(continuation));
    EXPECT_TRUE(requests[2]->attach(continuation));
    requests[1]->complete();
    requests[2]->complete();
    EXPECT_TRUE(continuation.close());
    EXPECT_EQ(progress.poll(), 0);
    EXPECT_EQ(continuation.runs, 0);
}

TEST(Continuation, PostRunsItInTheNextPoll) {
    Progress progress;
    TestContinuation continuation(progress);
    continuation.post();
    EXPECT_EQ(continuation.runs, 0);
    EXPECT_EQ(progress.poll(), 1);
    EXPECT_EQ(continuation.runs, 1);
}

// Items run in the order in which they became ready; what they link waits for the next poll, so that a poll ends.
TEST(ReadyList, RunsInOrderAndOnlyWhatWasThere) {
    Progress progress;
    std::vector<int> order;
    TestContinuation* again = nullptr;
    TestContinuation first(progress, [&] { order.push_back(1); });
    TestContinuation second(progress, [&] {
        order.push_back(2);
        again->post();
    });
    TestContinuation third(progress, [&] { order.push_back(3); });
    again = &first;
    first.post();
    second.post();
    third.post();
    EXPECT_EQ(progress.poll(), 3);
    EXPECT_EQ(order, (std::vector{1, 2, 3}));
    EXPECT_EQ(progress.poll(), 1);
    EXPECT_EQ(order, (std::vector{1, 2, 3, 1}));
}

// A callback of the program may wait in an item; what it waits for may be an item that is ready at the same time.
TEST(ReadyList, AnItemThatPollsLetsOthersRun) {
    Progress progress;
    TestContinuation inner(progress);
    int nested = -1;
    TestContinuation outer(progress, [&] {
        nested = progress.poll();
        EXPECT_EQ(inner.runs, 1);
    });
    outer.post();
    inner.post();
    EXPECT_EQ(progress.poll(), 1);
    EXPECT_EQ(nested, 1);
    EXPECT_EQ(inner.runs, 1);
}

// However many operations are outstanding, a poll visits those that are ready and no others: neither do they have
// pollers, nor are they run.
TEST(ReadyList, APollVisitsOnlyWhatIsReady) {
    constexpr int many = 10000;
    Progress progress;
    int visits = 0;
    const auto requests = make_requests(progress, many);
    std::vector<std::unique_ptr<TestContinuation>> continuations;
    for (int i = 0; i < many; ++i) {
        continuations.push_back(std::make_unique<TestContinuation>(progress, [&] { ++visits; }));
        continuations.back()->open();
        ASSERT_TRUE(requests[std::size_t(i)]->attach(*continuations.back()));
        ASSERT_FALSE(continuations.back()->close());
    }
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(progress.poll(), 0);
    }
    EXPECT_EQ(visits, 0);
    for (int i : {5000, 17, 9999}) {
        requests[std::size_t(i)]->complete();
    }
    EXPECT_EQ(progress.poll(), 3);
    EXPECT_EQ(visits, 3);
    EXPECT_EQ(continuations[17]->runs, 1);
    EXPECT_EQ(continuations[18]->runs, 0);
}

// Requests complete on other threads while a continuation is attached to them.
TEST(Continuation, NoCountIsLostAmongThreads) {
    constexpr int rounds = 500, parts = 2;
    Progress progress(true);
    std::atomic<TestRequest*> handed[parts] = {};
    std::atomic<bool> over{false};
    std::vector<std::thread> completers;
    for (auto& place : handed) {
        completers.emplace_back([&place, &over] {
            while (!over) {
                if (TestRequest* request = place.exchange(nullptr)) {
                    request->complete_outside();
                } else {
                    std::this_thread::yield();
                }
            }
        });
    }
    int ran = 0, at_once = 0;
    for (int round = 0; round < rounds; ++round) {
        TestContinuation continuation(progress);
        const auto requests = make_requests(progress, parts);
        continuation.open();
        for (int i = 0; i < parts; ++i) {
            handed[i] = requests[std::size_t(i)].get();
            requests[std::size_t(i)]->attach(continuation);
        }
        if (continuation.close()) {
            ++at_once;
        } else {
            while (continuation.runs == 0) {
                progress.poll();
                std::this_thread::yield();
            }
            ++ran;
        }
        for (const auto& request : requests) {
            ASSERT_TRUE(request->is_complete());
        }
        progress.poll();
        ASSERT_LE(continuation.runs, 1);
    }
    over = true;
    for (auto& completer : completers) {
        completer.join();
    }
    EXPECT_EQ(ran + at_once, rounds);
}

// A second thread begins to use the library while the first one attaches continuations and completes requests without
// atomic operations.
TEST(Continuation, NoCountIsLostInAnUpgrade) {
    for (int round = 0; round < 20; ++round) {
        Progress progress;
        ProgressLock lock(progress.threads());
        std::atomic<int> completed{0};
        std::atomic<bool> over{false};
        std::atomic<TestRequest*> handed{nullptr};
        std::thread first([&] {
            for (int i = 0; i < 100; ++i) {
                TestContinuation continuation(progress);
                TestRequest request(progress);
                continuation.open();
                request.attach(continuation);
                handed = &request;
                if (i % 2 == 0) { // otherwise the second thread completes it, once it is there
                    const std::lock_guard hold(lock);
                    if (TestRequest* mine = handed.exchange(nullptr)) {
                        mine->complete();
                    }
                }
                const bool done = continuation.close();
                while (!done && continuation.runs == 0) {
                    progress.poll();
                    std::this_thread::yield();
                }
                ++completed;
            }
            over = true;
        });
        while (completed < 1) {
            std::this_thread::yield();
        }
        progress.enable_threads();
        while (!over) {
            const std::lock_guard hold(lock);
            if (TestRequest* request = handed.exchange(nullptr)) {
                request->complete();
            }
        }
        first.join();
        EXPECT_EQ(completed, 100);
    }
}

} // namespace
} // namespace patchbay
