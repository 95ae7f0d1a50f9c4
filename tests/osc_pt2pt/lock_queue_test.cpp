// SPDX-License-Identifier: BSD-3-Clause
#include "components/osc/pt2pt/lock_queue.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace patchbay::osc::pt2pt {
namespace {

using Ranks = std::vector<int>;
using Answer = LockQueue::Answer;

Ranks release(LockQueue& queue, int rank) {
    Ranks granted;
    EXPECT_TRUE(queue.release(rank, &granted));
    return granted;
}

// What the failure of a process does for the others.
struct After {
    Ranks granted, refused;
    bool operator==(const After&) const = default;
};

After fail(LockQueue& queue, int rank) {
    After after;
    queue.fail(rank, &after.granted, &after.refused);
    return after;
}

TEST(LockQueue, ReadersShare) {
    LockQueue queue;
    EXPECT_EQ(queue.request(1, false), Answer::granted);
    EXPECT_EQ(queue.request(2, false), Answer::granted);
    EXPECT_EQ(queue.request(3, true), Answer::waits);
    EXPECT_EQ(release(queue, 1), Ranks{});
    EXPECT_EQ(release(queue, 2), Ranks{3});
    EXPECT_TRUE(queue.is_held_by(3));
}

TEST(LockQueue, WritersAreAlone) {
    LockQueue queue;
    EXPECT_EQ(queue.request(1, true), Answer::granted);
    EXPECT_EQ(queue.request(2, true), Answer::waits);
    EXPECT_EQ(queue.request(3, false), Answer::waits);
    EXPECT_EQ(queue.request(4, false), Answer::waits);
    EXPECT_EQ(queue.request(5, true), Answer::waits);
    EXPECT_EQ(release(queue, 1), Ranks{2});
    EXPECT_EQ(release(queue, 2), (Ranks{3, 4}));
    EXPECT_EQ(release(queue, 4), Ranks{});
    EXPECT_EQ(release(queue, 3), Ranks{5});
}

// Otherwise readers that come and go could keep a writer waiting for ever.
TEST(LockQueue, AReaderWaitsBehindAWriter) {
    LockQueue queue;
    EXPECT_EQ(queue.request(1, false), Answer::granted);
    EXPECT_EQ(queue.request(2, true), Answer::waits);
    EXPECT_EQ(queue.request(3, false), Answer::waits);
    EXPECT_EQ(release(queue, 1), Ranks{2});
    EXPECT_EQ(release(queue, 2), Ranks{3});
}

// A process in MPI_Win_lock_all may have what the holder here waits for, elsewhere.
TEST(LockQueue, ALockOfAllWaitsForAnExclusiveHolderOnly) {
    LockQueue queue;
    EXPECT_EQ(queue.request(1, false), Answer::granted);
    EXPECT_EQ(queue.request(2, true), Answer::waits);
    EXPECT_EQ(queue.request_ahead(3), Answer::granted);
    EXPECT_EQ(release(queue, 1), Ranks{});
    EXPECT_EQ(release(queue, 3), Ranks{2});
    EXPECT_EQ(queue.request(4, false), Answer::waits);
    EXPECT_EQ(queue.request(5, true), Answer::waits);
    EXPECT_EQ(queue.request_ahead(6), Answer::waits);
    EXPECT_EQ(queue.request_ahead(7), Answer::waits);
    EXPECT_EQ(release(queue, 2), (Ranks{6, 7, 4}));
    EXPECT_EQ(release(queue, 6), Ranks{});
    EXPECT_EQ(release(queue, 4), Ranks{});
    EXPECT_EQ(release(queue, 7), Ranks{5});
}

TEST(LockQueue, ReleaseOfALockThatIsNotHeld) {
    LockQueue queue;
    Ranks granted;
    EXPECT_FALSE(queue.release(1, &granted));
    EXPECT_EQ(queue.request(1, true), Answer::granted);
    EXPECT_EQ(queue.request(2, true), Answer::waits);
    EXPECT_FALSE(queue.release(2, &granted));
    EXPECT_TRUE(granted.empty());
    EXPECT_TRUE(queue.is_held_by(1));
}

TEST(LockQueue, AFailedWriterIsWaitedForByAll) {
    LockQueue queue;
    EXPECT_EQ(queue.request(1, true), Answer::granted);
    EXPECT_EQ(queue.request(2, true), Answer::waits);
    EXPECT_EQ(queue.request(3, false), Answer::waits);
    EXPECT_EQ(queue.request_ahead(4), Answer::waits);
    EXPECT_EQ(fail(queue, 1), (After{{}, {4, 2, 3}}));
    EXPECT_FALSE(queue.has_waiters());
    EXPECT_EQ(queue.request(5, true), Answer::refused);
    EXPECT_EQ(queue.request(6, false), Answer::refused);
    EXPECT_EQ(queue.request_ahead(7), Answer::refused);
}

// Those in front of it go on.
TEST(LockQueue, AFailedWriterInTheLine) {
    LockQueue queue;
    EXPECT_EQ(queue.request(1, true), Answer::granted);
    EXPECT_EQ(queue.request(2, true), Answer::waits);
    EXPECT_EQ(queue.request(3, true), Answer::waits);
    EXPECT_EQ(queue.request(4, false), Answer::waits);
    EXPECT_EQ(fail(queue, 3), (After{{}, {4}}));
    EXPECT_EQ(queue.request(5, false), Answer::refused);
    EXPECT_EQ(queue.request_ahead(6), Answer::waits);
    EXPECT_EQ(release(queue, 1), Ranks{6});
    EXPECT_EQ(release(queue, 6), Ranks{2});
    EXPECT_EQ(queue.request_ahead(7), Answer::waits);
    EXPECT_EQ(release(queue, 2), Ranks{7});
    EXPECT_EQ(release(queue, 7), Ranks{}); // its turn has come
    EXPECT_EQ(queue.request_ahead(8), Answer::refused);
}

TEST(LockQueue, AFailedReaderIsWaitedForByWriters) {
    LockQueue queue;
    EXPECT_EQ(queue.request(1, false), Answer::granted);
    EXPECT_EQ(queue.request(2, true), Answer::waits);
    EXPECT_EQ(queue.request(3, false), Answer::waits);
    EXPECT_EQ(fail(queue, 1), (After{{3}, {2}}));
    EXPECT_EQ(queue.request(4, false), Answer::granted);
    EXPECT_EQ(queue.request(5, true), Answer::refused);
    EXPECT_EQ(release(queue, 3), Ranks{});
    EXPECT_EQ(release(queue, 4), Ranks{});
    EXPECT_EQ(queue.request(6, true), Answer::refused);
    EXPECT_EQ(queue.request_ahead(7), Answer::granted);
}

TEST(LockQueue, AFailedReaderInTheLine) {
    LockQueue queue;
    EXPECT_EQ(queue.request(1, true), Answer::granted);
    EXPECT_EQ(queue.request(2, false), Answer::waits);
    EXPECT_EQ(queue.request(3, false), Answer::waits);
    EXPECT_EQ(queue.request(4, true), Answer::waits);
    EXPECT_EQ(fail(queue, 2), (After{{}, {4}}));
    EXPECT_EQ(queue.request(5, true), Answer::refused);
    EXPECT_EQ(queue.request(6, false), Answer::waits);
    EXPECT_EQ(release(queue, 1), (Ranks{3, 6}));
    EXPECT_EQ(queue.request(7, true), Answer::refused);
}

TEST(LockQueue, TwoProcessesThatFail) {
    LockQueue queue;
    EXPECT_EQ(queue.request(1, true), Answer::granted);
    EXPECT_EQ(queue.request(2, true), Answer::waits);
    EXPECT_EQ(fail(queue, 2), After{});
    EXPECT_EQ(fail(queue, 1), After{});
    EXPECT_FALSE(queue.has_waiters());
    EXPECT_EQ(fail(queue, 3), After{}); // it has nothing to do with the lock
    EXPECT_EQ(queue.request(4, false), Answer::refused);
}

// Requests of 12 processes in random order, of which some fail. Nobody waits for one that has failed: when all others
// have released what they had, nobody waits.
void run_random_orders(unsigned seed, int failures) {
    std::mt19937 random(seed);
    LockQueue queue;
    std::map<int, bool> held;    // rank -> exclusive
    std::map<int, bool> waiting; // the same
    std::map<int, bool> failed;  // those that had the lock or waited for it
    int grants = 0;
    const auto take = [&](const Ranks& granted) {
        for (const int one : granted) {
            ASSERT_TRUE(waiting.contains(one));
            held[one] = waiting.at(one);
            waiting.erase(one);
            ++grants;
        }
    };
    for (int step = 0; step < 2000; ++step) {
        const int rank = int(random() % 12);
        if (failed.contains(rank)) {
            continue;
        }
        Ranks granted;
        if (failures > 0 && random() % 300 == 0) {
            const bool holds = held.contains(rank);
            const bool waits = waiting.contains(rank);
            const bool exclusive = holds ? held[rank] : waits && waiting[rank];
            held.erase(rank);
            waiting.erase(rank);
            After after;
            queue.fail(rank, &after.granted, &after.refused);
            ASSERT_TRUE(holds || waits || after == After{});
            take(after.granted);
            for (const int one : after.refused) {
                ASSERT_TRUE(waiting.contains(one) && (exclusive || waiting.at(one)));
                waiting.erase(one);
            }
            failed[rank] = true;
            --failures;
            continue;
        }
        if (held.contains(rank)) {
            ASSERT_TRUE(queue.release(rank, &granted));
            held.erase(rank);
        } else if (!waiting.contains(rank)) {
            const bool exclusive = random() % 3 == 0;
            const Answer answer =
                !exclusive && random() % 4 == 0 ? queue.request_ahead(rank) : queue.request(rank, exclusive);
            ASSERT_TRUE(answer != Answer::refused || !failed.empty());
            if (answer != Answer::refused) {
                waiting[rank] = exclusive;
            }
            if (answer == Answer::granted) {
                granted.push_back(rank);
            }
        }
        take(granted);
        int writers = 0;
        for (const auto& [one, exclusive] : held) {
            writers += exclusive ? 1 : 0;
        }
        ASSERT_TRUE(writers == 0 || held.size() == 1);
        ASSERT_TRUE(!held.empty() || waiting.empty()); // nobody waits for a lock that is free, or for a failed process
    }
    while (!held.empty()) {
        const int rank = held.begin()->first;
        Ranks granted;
        ASSERT_TRUE(queue.release(rank, &granted));
        held.erase(rank);
        take(granted);
    }
    EXPECT_TRUE(waiting.empty());
    EXPECT_GT(grants, 2);
}

TEST(LockQueue, RandomOrders) {
    for (unsigned seed = 1; seed <= 50; ++seed) {
        SCOPED_TRACE(seed);
        run_random_orders(seed, 0);
    }
}

TEST(LockQueue, RandomOrdersWithFailures) {
    for (unsigned seed = 1; seed <= 200; ++seed) {
        SCOPED_TRACE(seed);
        run_random_orders(seed, 1 + int(seed % 3));
    }
}

} // namespace
} // namespace patchbay::osc::pt2pt
