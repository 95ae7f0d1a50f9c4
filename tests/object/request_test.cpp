// SPDX-License-Identifier: BSD-3-Clause
#include "tests/object/test_request.h"

#include <gtest/gtest.h>
#include <memory>
#include <thread>

namespace patchbay {
namespace {

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
