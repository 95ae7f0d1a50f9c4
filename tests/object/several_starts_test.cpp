// SPDX-License-Identifier: BSD-3-Clause
#include "object/several_starts.h"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>

namespace patchbay {
namespace {

class Channel final : public SeveralStarts {
public:
    Channel(Progress& waits, std::uint16_t most)
        : SeveralStarts(waits, most) {}
    ~Channel() override = default;
    int start() noexcept override {
        add_start();
        return MPI_SUCCESS;
    }
    int cancel() noexcept override { return MPI_SUCCESS; }
    void complete_one(int tag, int code = MPI_SUCCESS) {
        MPI_Status result{};
        result.MPI_TAG = tag;
        complete_start(result, code);
    }
    std::atomic<int> retired{0};

private:
    void retire_last() noexcept override { ++retired; }
};

TEST(SeveralStarts, CompleteInTheirOrder) {
    Progress progress;
    Channel channel(progress, 3);
    EXPECT_EQ(channel.state(), Request::State::inactive);
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(channel.may_start());
        channel.start();
    }
    EXPECT_FALSE(channel.may_start()) << "three are outstanding";
    channel.complete_one(10);
    channel.complete_one(11, MPI_ERR_TRUNCATE);
    EXPECT_TRUE(channel.is_complete());
    EXPECT_EQ(channel.status.MPI_TAG, 10);
    EXPECT_EQ(channel.error, MPI_SUCCESS);
    EXPECT_FALSE(channel.may_start()) << "a complete one is outstanding until a completing call";
    channel.end_start();
    EXPECT_TRUE(channel.is_complete());
    EXPECT_EQ(channel.status.MPI_TAG, 11);
    EXPECT_EQ(channel.error, MPI_ERR_TRUNCATE);
    EXPECT_TRUE(channel.may_start());
    channel.start();
    channel.end_start();
    EXPECT_EQ(channel.state(), Request::State::active);
    channel.complete_one(12);
    channel.end_start();
    channel.complete_one(13);
    EXPECT_EQ(channel.status.MPI_TAG, 13);
    channel.end_start();
    EXPECT_EQ(channel.state(), Request::State::inactive);
    channel.recycle();
    EXPECT_EQ(channel.retired, 1);
}

TEST(SeveralStarts, ARequestThatWasReleasedIsRetiredAfterTheLast) {
    Progress progress;
    for (int complete_before : {0, 1, 2}) {
        Channel channel(progress, 4);
        for (int i = 0; i < 3; ++i) {
            channel.start();
        }
        for (int i = 0; i < complete_before; ++i) {
            channel.complete_one(i);
        }
        channel.recycle();
        for (int i = complete_before; i < 3; ++i) {
            progress.poll();
            EXPECT_EQ(channel.retired, 0);
            channel.complete_one(i);
        }
        progress.poll();
        EXPECT_EQ(channel.retired, 1);
    }
}

TEST(SeveralStarts, AContinuationFollowsTheNextCompletion) {
    Progress progress;
    Channel channel(progress, 2);
    int runs = 0;
    struct Counting final : Continuation {
        Counting(Progress& polled, int& runs)
            : Continuation(polled, [](ReadyItem& item) noexcept { ++static_cast<Counting&>(item).runs; }),
              runs(runs) {}
        int& runs;
    } counting(progress, runs);
    channel.start();
    channel.start();
    for (int i = 0; i < 2; ++i) {
        counting.open();
        EXPECT_TRUE(channel.attach(counting));
        EXPECT_FALSE(counting.close());
        channel.complete_one(i);
        progress.poll();
        EXPECT_EQ(runs, i + 1);
        channel.end_start();
    }
    channel.recycle();
    EXPECT_EQ(channel.retired, 1);
}

// The owner completes on another thread while the user starts and waits.
TEST(SeveralStarts, AmongThreads) {
    constexpr int rounds = 5000, most = 3;
    Progress progress(true);
    Channel channel(progress, most);
    std::atomic<int> started{0};
    std::thread owner([&] {
        for (int i = 0; i < rounds; ++i) {
            while (started <= i) {
                std::this_thread::yield();
            }
            channel.complete_one(i);
        }
    });
    int ended = 0;
    for (int i = 0; ended < rounds;) {
        while (i < rounds && channel.may_start()) {
            channel.start();
            started = ++i;
        }
        if (channel.is_complete()) {
            ASSERT_EQ(channel.status.MPI_TAG, ended);
            channel.end_start();
            ++ended;
        } else {
            std::this_thread::yield();
        }
    }
    owner.join();
    EXPECT_EQ(channel.state(), Request::State::inactive);
    channel.recycle();
    EXPECT_EQ(channel.retired, 1);
}

} // namespace
} // namespace patchbay
