// SPDX-License-Identifier: BSD-3-Clause
#include "core/memory/pool.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <set>
#include <thread>

namespace patchbay {
namespace {

struct alignas(64) Item {
    explicit Item(int number, int* gone = nullptr) noexcept
        : number(number),
          gone(gone) {}
    ~Item() {
        if (gone != nullptr) {
            ++*gone;
        }
    }
    int number;
    int* gone;
};

TEST(Pool, GivesDistinctAlignedObjects) {
    Pool<Item> pool(false, 4);
    std::set<Item*> items;
    for (int i = 0; i < 100; ++i) {
        Item* item = pool.alloc(i);
        ASSERT_NE(item, nullptr);
        EXPECT_EQ(std::uintptr_t(item) % alignof(Item), 0u);
        EXPECT_TRUE(items.insert(item).second);
    }
    EXPECT_EQ(pool.live(), 100u);
    for (Item* item : items) {
        pool.free(item);
    }
    EXPECT_EQ(pool.live(), 0u);
}

TEST(Pool, DestructsAndGivesTheLastOneAgain) {
    Pool<Item> pool;
    int gone = 0;
    Item* item = pool.alloc(1, &gone);
    pool.free(item);
    EXPECT_EQ(gone, 1);
    Item* again = pool.alloc(2);
    EXPECT_EQ(again, item);
    EXPECT_EQ(again->number, 2);
    pool.free(again);
    pool.free(nullptr);
}

TEST(Pool, ServesThreads) {
    Pool<Item> pool(true, 8);
    std::vector<std::thread> threads;
    std::atomic<bool> good{true};
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&, thread] {
            for (int i = 0; i < 20000; ++i) {
                Item* item = pool.alloc(thread);
                Item* second = pool.alloc(thread + 100);
                good = good && item->number == thread && second->number == thread + 100;
                pool.free(item);
                pool.free(second);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_TRUE(good);
    EXPECT_EQ(pool.live(), 0u);
}

} // namespace
} // namespace patchbay
