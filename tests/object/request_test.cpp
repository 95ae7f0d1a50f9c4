// SPDX-License-Identifier: BSD-3-Clause
#include "core/progress/waiter.h"
#include "tests/object/test_request.h"

#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <thread>

namespace patchbay {
namespace {
using namespace std::chrono_literals;

TEST(Request, TheUserEndsSecond) {
    Progress progress;
    TestRequest request(progress);
    EXPECT_TRUE(request.is_active());
    EXPECT_FALSE(request.is_complete());
    EXPECT_FALSE(request.complete());
    EXPECT_TRUE(request.is_complete());
    EXPECT_EQ(request.retired, 0);
    EXPECT_EQ(request.recycle(), MPI_SUCCESS);
    EXPECT_EQ(request.retired, 1);
}

// Two threads look at a request that checks itself. The one that finds the other one looking sleeps, and is woken by
// it.
class CheckedByTwo final : public Request {
public:
    explicit CheckedByTwo(Progress& waits) {
        progress = &waits;
        checks_itself = true;
        set_active();
    }
    int start() noexcept override { return MPI_SUCCESS; }
    int cancel() noexcept override { return MPI_SUCCESS; }
    std::atomic<bool> checking{false};

private:
    void check() noexcept override {
        checking = true;
        while (!progress->doorbell().flag_is_up()) {
            std::this_thread::yield();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(50)); // the last look of the other one, and its sleep
        complete();
    }
    int retire() noexcept override { return MPI_SUCCESS; }
};

TEST(Request, AThreadThatFindsAnotherOneCheckingIsWoken) {
    WaitPolicy policy;
    policy.spin = policy.yield = 0ns;
    policy.first_polls = 1;
    policy.longest_sleep = 20s;
    Progress progress(true, policy);
    CheckedByTwo request(progress);
    std::thread other([&] { static_cast<void>(request.has_completed()); });
    while (!request.checking) {
        std::this_thread::yield();
    }
    const auto begin = std::chrono::steady_clock::now();
    wait_until(progress, [&] { return request.has_completed(); });
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
    other.join();
}

// The request is retired outside of the locks of the code that completes it: by the next poll.
TEST(Request, TheOwnerEndsSecond) {
    Progress progress;
    TestRequest request(progress);
    EXPECT_EQ(request.recycle(), MPI_SUCCESS);
    EXPECT_EQ(request.retired, 0);
    EXPECT_TRUE(request.complete());
    EXPECT_EQ(request.retired, 0);
    progress.poll();
    EXPECT_EQ(request.retired, 1);
}

TEST(Request, TheOwnerEndsSecondWithoutALock) {
    Progress progress;
    TestRequest request(progress, [] { return MPI_ERR_INTERN; });
    EXPECT_EQ(request.recycle(), MPI_SUCCESS);
    EXPECT_EQ(request.complete_outside(), MPI_ERR_INTERN);
    EXPECT_EQ(request.retired, 1);
}

TEST(Request, TheCodeOfTheRetirementIsReturnedToTheUser) {
    Progress progress;
    TestRequest request(progress, [] { return MPI_ERR_INTERN; });
    EXPECT_EQ(request.complete_outside(), MPI_SUCCESS);
    EXPECT_EQ(request.recycle(), MPI_ERR_INTERN);
}

TEST(Request, AReleasedRequestHasItsContinuation) {
    Progress progress;
    TestRequest request(progress);
    TestContinuation continuation(progress);
    continuation.open();
    EXPECT_TRUE(request.attach(continuation));
    EXPECT_FALSE(continuation.close());
    request.recycle();
    request.complete();
    EXPECT_EQ(progress.poll(), 2);
    EXPECT_EQ(request.retired, 1);
    EXPECT_EQ(continuation.runs, 1);
}

TEST(Request, APersistentOneIsStartedAgain) {
    Progress progress;
    TestRequest request(progress);
    request.persistent = true;
    EXPECT_FALSE(request.may_start());
    request.complete();
    EXPECT_FALSE(request.may_start());
    request.end_start();
    EXPECT_EQ(request.state(), Request::State::inactive);
    EXPECT_TRUE(request.may_start());
    request.start();
    EXPECT_EQ(request.state(), Request::State::active);
    request.recycle();
    request.complete();
    progress.poll();
    EXPECT_EQ(request.retired, 1);
}

// Whichever of two threads comes second: the request is retired once.
TEST(Request, TwoThreadsEndIt) {
    constexpr int rounds = 2000;
    Progress progress(true);
    std::atomic<int> turn{-1};
    std::atomic<TestRequest*> current{nullptr};
    int by_user = 0;
    std::thread owner([&] {
        for (int round = 0; round < rounds; ++round) {
            while (turn < round) {
                std::this_thread::yield();
            }
            if (round % 2 == 0) {
                current.load()->complete();
            } else {
                current.load()->complete_outside();
            }
        }
    });
    for (int round = 0; round < rounds; ++round) {
        TestRequest request(progress);
        current = &request;
        turn = round;
        request.recycle();
        by_user += request.retired;
        while (request.retired == 0) {
            progress.poll();
        }
        EXPECT_EQ(request.retired, 1);
    }
    owner.join();
    EXPECT_LE(by_user, rounds);
}

} // namespace
} // namespace patchbay
