// SPDX-License-Identifier: BSD-3-Clause
#include "components/osc/pt2pt/lock_queue.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace patchbay::osc::pt2pt {
namespace {

using Ranks = std::vector<int>;

Ranks release(LockQueue& queue, int rank) {
    Ranks granted;
    EXPECT_TRUE(queue.release(rank, &granted));
    return granted;
}

TEST(LockQueue, ReadersShare) {
    LockQueue queue;
    EXPECT_TRUE(queue.request(1, false));
    EXPECT_TRUE(queue.request(2, false));
    EXPECT_FALSE(queue.request(3, true));
    EXPECT_EQ(release(queue, 1), Ranks{});
    EXPECT_EQ(release(queue, 2), Ranks{3});
    EXPECT_TRUE(queue.is_held_by(3));
}

TEST(LockQueue, WritersAreAlone) {
    LockQueue queue;
    EXPECT_TRUE(queue.request(1, true));
    EXPECT_FALSE(queue.request(2, true));
    EXPECT_FALSE(queue.request(3, false));
    EXPECT_FALSE(queue.request(4, false));
    EXPECT_FALSE(queue.request(5, true));
    EXPECT_EQ(release(queue, 1), Ranks{2});
    EXPECT_EQ(release(queue, 2), (Ranks{3, 4}));
    EXPECT_EQ(release(queue, 4), Ranks{});
    EXPECT_EQ(release(queue, 3), Ranks{5});
}

// Otherwise readers that come and go could keep a writer waiting for ever.
TEST(LockQueue, AReaderWaitsBehindAWriter) {
    LockQueue queue;
    EXPECT_TRUE(queue.request(1, false));
    EXPECT_FALSE(queue.request(2, true));
    EXPECT_FALSE(queue.request(3, false));
    EXPECT_EQ(release(queue, 1), Ranks{2});
    EXPECT_EQ(release(queue, 2), Ranks{3});
}

// A process in MPI_Win_lock_all may have what the holder here waits for, elsewhere.
TEST(LockQueue, ALockOfAllWaitsForAnExclusiveHolderOnly) {
    LockQueue queue;
    EXPECT_TRUE(queue.request(1, false));
    EXPECT_FALSE(queue.request(2, true));
    EXPECT_TRUE(queue.request_ahead(3));
    EXPECT_EQ(release(queue, 1), Ranks{});
    EXPECT_EQ(release(queue, 3), Ranks{2});
    EXPECT_FALSE(queue.request(4, false));
    EXPECT_FALSE(queue.request(5, true));
    EXPECT_FALSE(queue.request_ahead(6));
    EXPECT_FALSE(queue.request_ahead(7));
    EXPECT_EQ(release(queue, 2), (Ranks{6, 7, 4}));
    EXPECT_EQ(release(queue, 6), Ranks{});
    EXPECT_EQ(release(queue, 4), Ranks{});
    EXPECT_EQ(release(queue, 7), Ranks{5});
}

TEST(LockQueue, ReleaseOfALockThatIsNotHeld) {
    LockQueue queue;
    Ranks granted;
    EXPECT_FALSE(queue.release(1, &granted));
    EXPECT_TRUE(queue.request(1, true));
    EXPECT_FALSE(queue.request(2, true));
    EXPECT_FALSE(queue.release(2, &granted));
    EXPECT_TRUE(granted.empty());
    EXPECT_TRUE(queue.is_held_by(1));
}

TEST(LockQueue, AProcessThatFails) {
    LockQueue queue;
    EXPECT_TRUE(queue.request(1, true));
    EXPECT_FALSE(queue.request(2, true));
    EXPECT_FALSE(queue.request(3, false));
    EXPECT_FALSE(queue.request(4, true));
    Ranks granted;
    queue.remove(2, &granted);
    EXPECT_TRUE(granted.empty());
    queue.remove(1, &granted);
    EXPECT_EQ(granted, Ranks{3});
    granted.clear();
    EXPECT_FALSE(queue.request(5, false));
    queue.remove(4, &granted); // between two groups of readers
    EXPECT_EQ(granted, Ranks{5});
    EXPECT_FALSE(queue.has_waiters());
}

TEST(LockQueue, RandomOrders) {
    for (unsigned seed = 1; seed <= 50; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        LockQueue queue;
        std::map<int, bool> held;    // rank -> exclusive
        std::map<int, bool> waiting; // the same
        int grants = 0;
        for (int step = 0; step < 2000; ++step) {
            const int rank = int(random() % 12);
            Ranks granted;
            if (held.contains(rank)) {
                ASSERT_TRUE(queue.release(rank, &granted));
                held.erase(rank);
            } else if (!waiting.contains(rank)) {
                const bool exclusive = random() % 3 == 0;
                waiting[rank] = exclusive;
                if (queue.request(rank, exclusive)) {
                    granted.push_back(rank);
                }
            }
            for (const int one : granted) {
                held[one] = waiting.at(one);
                waiting.erase(one);
                ++grants;
            }
            int writers = 0;
            for (const auto& [one, exclusive] : held) {
                writers += exclusive ? 1 : 0;
            }
            ASSERT_TRUE(writers == 0 || held.size() == 1);
            ASSERT_TRUE(!held.empty() || waiting.empty()); // nobody waits for a lock that is free
        }
        EXPECT_GT(grants, 100);
    }
}

} // namespace
} // namespace patchbay::osc::pt2pt
