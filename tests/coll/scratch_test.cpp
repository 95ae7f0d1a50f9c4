// SPDX-License-Identifier: BSD-3-Clause
// Memory that collective operations leave for later ones.
#include "frameworks/coll/scratch.h"

#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

using patchbay::coll::Scratch;
using patchbay::coll::ScratchPool;

namespace {

TEST(ScratchTest, ABlockIsGivenAgain) {
    ScratchPool pool;
    std::byte* first = nullptr;
    {
        const Scratch scratch(pool, 100000);
        first = scratch.data();
        ASSERT_NE(first, nullptr);
        std::memset(first, 1, 100000);
        EXPECT_EQ(pool.kept(), 0u);
    }
    EXPECT_GE(pool.kept(), 100000u);
    // A call of another length uses it, too.
    const Scratch scratch(pool, 90000);
    EXPECT_EQ(scratch.data(), first);
    EXPECT_EQ(pool.kept(), 0u);
}

TEST(ScratchTest, BlocksInUseAreDistinct) {
    ScratchPool pool;
    const Scratch a(pool, 5000);
    const Scratch b(pool, 5000);
    EXPECT_NE(a.data(), b.data());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 64, 0u);
}

TEST(ScratchTest, TheNewestBlockIsGivenFirst) {
    ScratchPool pool;
    std::byte* newest = nullptr;
    {
        std::vector<Scratch> blocks;
        for (int i = 0; i < 4; ++i) {
            blocks.emplace_back(pool, 5000);
        }
        while (blocks.size() > 1) {
            blocks.pop_back();
        }
        newest = blocks.front().data();
    }
    EXPECT_EQ(Scratch(pool, 5000).data(), newest);
}

TEST(ScratchTest, NoMoreThanTheLimitIsKept) {
    ScratchPool pool;
    pool.set_limit(1 << 20);
    {
        std::vector<Scratch> blocks;
        for (int i = 0; i < 10; ++i) {
            blocks.emplace_back(pool, 200000);
        }
    }
    EXPECT_LE(pool.kept(), 1u << 20);
    EXPECT_GT(pool.kept(), 0u);
    const std::size_t before = pool.kept();
    { const Scratch larger_than_the_limit(pool, 4 << 20); }
    EXPECT_EQ(pool.kept(), before);
}

// Blocks of a size that is used no more do not keep those of the next size from being kept.
TEST(ScratchTest, OldBlocksAreReplaced) {
    ScratchPool pool;
    pool.set_limit(1 << 20);
    {
        std::vector<Scratch> blocks;
        for (int i = 0; i < 100; ++i) {
            blocks.emplace_back(pool, 8192);
        }
    }
    std::byte* large = nullptr;
    {
        const Scratch scratch(pool, 1000000);
        large = scratch.data();
    }
    EXPECT_EQ(Scratch(pool, 1000000).data(), large);
}

TEST(ScratchTest, ExhaustedMemoryIsAnEmptyBlock) {
    ScratchPool pool;
    EXPECT_FALSE(bool(Scratch(pool, std::numeric_limits<std::size_t>::max() / 2)));
    EXPECT_FALSE(bool(Scratch(pool, std::size_t(1) << 60)));
    EXPECT_TRUE(bool(Scratch(pool, 0)));
}

TEST(ScratchTest, ABlockCanBeMoved) {
    ScratchPool pool;
    Scratch a(pool, 100);
    std::byte* data = a.data();
    Scratch b;
    b = std::move(a);
    EXPECT_EQ(b.data(), data);
    EXPECT_FALSE(bool(a));
    b = Scratch();
    EXPECT_GT(pool.kept(), 0u);
}

} // namespace
