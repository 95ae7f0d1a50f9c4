// SPDX-License-Identifier: BSD-3-Clause
#include "core/lifetime/lease.h"

#include <atomic>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

using namespace patchbay;

namespace {

constexpr int step_count = 5;

// An init of five steps that writes down what it does and undoes: "+1 +2 ... -2 -1".
Status recorded_init(CleanupStack& cleanup, std::string& record) {
    for (int i = 1; i <= step_count; ++i) {
        const std::string number = std::to_string(i);
        const Status done = cleanup.step(
            "a step",
            [&] {
                record += "+" + number;
                return Status();
            },
            [&record, number] { record += "-" + number; });
        if (!done) {
            return done;
        }
    }
    return {};
}

} // namespace

TEST(CleanupStack, RunsInReverseOrderAndOnlyOnce) {
    std::string record;
    {
        CleanupStack cleanup;
        ASSERT_TRUE(recorded_init(cleanup, record));
        cleanup.push([&] { record += "-6"; });
        EXPECT_EQ(cleanup.size(), 6u);
        cleanup.run();
        EXPECT_EQ(record, "+1+2+3+4+5-6-5-4-3-2-1");
        EXPECT_EQ(cleanup.size(), 0u);
    }
    EXPECT_EQ(record, "+1+2+3+4+5-6-5-4-3-2-1");
}

TEST(CleanupStack, DestructorRuns) {
    std::string record;
    {
        CleanupStack cleanup;
        ASSERT_TRUE(recorded_init(cleanup, record));
    }
    EXPECT_EQ(record, "+1+2+3+4+5-5-4-3-2-1");
}

TEST(CleanupStack, AStepThatFailsIsNotUndone) {
    CleanupStack cleanup;
    const Status failed = cleanup.step(
        "open",
        [] {
            return Status(Error{Errc::system, "no such device"});
        },
        [] { FAIL() << "undone"; });
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().text, "no such device");
    EXPECT_EQ(cleanup.size(), 0u);
}

TEST(Lease, FirstBringsUpLastTakesDown) {
    std::string record;
    Subsystem subsystem("test");
    const auto init = [&](CleanupStack& cleanup) { return recorded_init(cleanup, record); };
    auto first = subsystem.acquire(init);
    ASSERT_TRUE(first);
    auto second = subsystem.acquire(init);
    ASSERT_TRUE(second);
    EXPECT_EQ(subsystem.users(), 2);
    first->release();
    first->release(); // giving back twice is giving back once
    EXPECT_EQ(record, "+1+2+3+4+5");
    Lease moved = std::move(*second);
    EXPECT_FALSE(*second);
    moved = Lease();
    EXPECT_EQ(record, "+1+2+3+4+5-5-4-3-2-1");
    EXPECT_EQ(subsystem.users(), 0);
}

TEST(Lease, StartsAgainAfterTheLastUser) {
    std::string record;
    Subsystem subsystem("test");
    for (int cycle = 0; cycle < 3; ++cycle) {
        record.clear();
        auto lease = subsystem.acquire([&](CleanupStack& cleanup) { return recorded_init(cleanup, record); });
        ASSERT_TRUE(lease);
        lease->release();
        EXPECT_EQ(record, "+1+2+3+4+5-5-4-3-2-1");
    }
}

// Fails each step in turn: what was done is undone in reverse, nothing else is, and the next try succeeds.
TEST(Lease, FailureAtEveryStepUnwindsAndCanBeRetried) {
    int failures = 0;
    for (int k = 1;; ++k) {
        std::string record;
        FaultPlan faults(k);
        Subsystem subsystem("test");
        const auto init = [&](CleanupStack& cleanup) { return recorded_init(cleanup, record); };
        auto lease = subsystem.acquire(init, &faults);
        if (lease) {
            break;
        }
        ++failures;
        EXPECT_EQ(
            lease.error().text, "init step " + std::to_string(k) + " (a step) was made to fail (parameter fault_step)");
        std::string expected;
        for (int i = 1; i < k; ++i) {
            expected += "+" + std::to_string(i);
        }
        for (int i = k - 1; i >= 1; --i) {
            expected += "-" + std::to_string(i);
        }
        EXPECT_EQ(record, expected);
        EXPECT_EQ(subsystem.users(), 0);

        record.clear();
        auto retry = subsystem.acquire(init, &faults);
        ASSERT_TRUE(retry) << retry.error().text;
        retry->release();
        EXPECT_EQ(record, "+1+2+3+4+5-5-4-3-2-1");
    }
    EXPECT_EQ(failures, step_count);
}

TEST(Lease, NestedSubsystemsUnwindTogether) {
    Subsystem inner("inner");
    Subsystem outer("outer");
    int inner_up = 0;
    const auto bring_up = [&](FaultPlan& faults) {
        return outer.acquire(
            [&](CleanupStack& cleanup) -> Status {
                auto lease = inner.acquire(
                    [&](CleanupStack& mine) {
                        return mine.step(
                            "inner", [&] { return ++inner_up, Status(); }, [&] { --inner_up; });
                    },
                    cleanup.faults());
                if (!lease) {
                    return lease.error();
                }
                auto held = std::make_shared<Lease>(std::move(*lease));
                cleanup.push([held] { held->release(); });
                return cleanup.step(
                    "outer", [] { return Status(); }, nullptr);
            },
            &faults);
    };
    for (int k = 1; k <= 2; ++k) {
        FaultPlan faults(k);
        EXPECT_FALSE(bring_up(faults)) << k;
        EXPECT_EQ(inner_up, 0) << k;
        EXPECT_EQ(inner.users(), 0) << k;
    }
    FaultPlan none;
    auto lease = bring_up(none);
    ASSERT_TRUE(lease);
    EXPECT_EQ(inner_up, 1);
    EXPECT_EQ(none.steps_seen(), 2);
    lease->release();
    EXPECT_EQ(inner_up, 0);
}

TEST(Lease, ThreadsShareOneInit) {
    Subsystem subsystem("test");
    int up = 0; // guarded by the subsystem; a data race here is one of the lease
    int inits = 0;
    std::atomic<int> holders = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int k = 0; k < 2000; ++k) {
                auto lease = subsystem.acquire([&](CleanupStack& cleanup) {
                    ++inits;
                    return cleanup.step(
                        "up", [&] { return ++up, Status(); }, [&] { --up; });
                });
                ASSERT_TRUE(lease);
                ++holders;
                ASSERT_EQ(up, 1);
                --holders;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(up, 0);
    EXPECT_GE(inits, 1);
    EXPECT_EQ(subsystem.users(), 0);
}

TEST(Lease, FailingInitUnderThreadsNeverLeavesItHalfUp) {
    Subsystem subsystem("test");
    int up = 0;
    int attempts = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int k = 0; k < 1000; ++k) {
                auto lease = subsystem.acquire([&](CleanupStack& cleanup) -> Status {
                    cleanup.push([&] { --up; });
                    ++up;
                    return ++attempts % 3 == 0 ? Status(Error{Errc::system, "third"}) : Status();
                });
                if (lease) {
                    ASSERT_EQ(up, 1);
                }
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(up, 0);
}

TEST(LeaseDeathTest, ASubsystemMustOutliveItsLeases) {
    EXPECT_DEATH(
        {
            auto* subsystem = new Subsystem("early");
            auto lease = subsystem->acquire([](CleanupStack&) { return Status(); });
            delete subsystem;
        },
        "subsystem early is destroyed while 1 leases on it are held");
}
