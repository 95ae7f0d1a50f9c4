// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/cid/index_table.h"

#include "object/communicator.h"

#include <gtest/gtest.h>
#include <random>
#include <set>

// The communicators of this test have no handles.
void patchbay::Communicator::destroy(Communicator*) noexcept {}

using namespace patchbay;
using cid::IndexTable;

TEST(index_table, the_predefined_indices_are_taken) {
    IndexTable table;
    EXPECT_FALSE(table.reserve(0));
    EXPECT_FALSE(table.reserve(1));
    EXPECT_EQ(table.reserve_lowest(0), IndexTable::predefined);
    EXPECT_EQ(table.live(), IndexTable::predefined + 1);
}

TEST(index_table, released_indices_come_back_lowest_first) {
    IndexTable table;
    for (std::uint32_t i = IndexTable::predefined; i < 10; ++i) {
        EXPECT_EQ(table.reserve_lowest(0), i);
    }
    table.release(7);
    table.release(4);
    EXPECT_EQ(table.reserve_lowest(5), 7u);
    EXPECT_EQ(table.reserve_lowest(0), 4u);
    EXPECT_EQ(table.reserve_lowest(0), 10u);
}

TEST(index_table, the_limit_is_the_last_index) {
    IndexTable table;
    table.set_limit(5);
    EXPECT_FALSE(table.reserve(6));
    EXPECT_TRUE(table.reserve(5));
    EXPECT_EQ(table.reserve_lowest(0), 3u);
    EXPECT_EQ(table.reserve_lowest(0), 4u);
    EXPECT_EQ(table.reserve_lowest(0), std::nullopt);
    EXPECT_EQ(table.reserve_lowest(9), std::nullopt);
}

TEST(index_table, find_sees_what_is_bound) {
    IndexTable table;
    Communicator comm;
    EXPECT_EQ(table.find(65535), nullptr);
    ASSERT_TRUE(table.reserve(300));
    EXPECT_EQ(table.find(300), nullptr);
    table.bind(300, &comm);
    EXPECT_EQ(table.find(300), &comm);
    EXPECT_EQ(table.all(), std::vector<Communicator*>{&comm});
    table.release(300);
    EXPECT_EQ(table.find(300), nullptr);
}

// Compares the table with a set of integers.
TEST(index_table, random_use) {
    std::mt19937 random(7);
    IndexTable table;
    std::set<std::uint32_t> taken{0, 1, 2};
    for (int step = 0; step < 20000; ++step) {
        const std::uint32_t index = random() % 200;
        switch (random() % 3) {
        case 0:
            EXPECT_EQ(table.reserve(index), taken.insert(index).second);
            break;
        case 1: {
            std::uint32_t expected = index;
            while (taken.contains(expected)) {
                ++expected;
            }
            EXPECT_EQ(table.reserve_lowest(index), expected);
            taken.insert(expected);
            break;
        }
        default:
            if (index >= IndexTable::predefined && taken.erase(index) == 1) {
                table.release(index);
            }
        }
        ASSERT_EQ(table.live(), taken.size());
    }
}

TEST(index_table, offered_indices_are_not_reserved) {
    IndexTable table;
    ASSERT_TRUE(table.reserve(70));
    std::uint64_t mask[2];
    table.offer(0, 0, mask);
    EXPECT_EQ(mask[0], ~std::uint64_t(7)); // all but the predefined indices
    EXPECT_EQ(mask[1], ~(std::uint64_t(1) << 6));
    EXPECT_FALSE(table.reserve(20));
    EXPECT_EQ(table.reserve_lowest(0), 128u);
    table.release(70); // was not offered and is not offered now
    table.withdraw_offer(0, 20);
    EXPECT_FALSE(table.reserve(20));
    EXPECT_EQ(table.reserve_lowest(0), IndexTable::predefined);
    table.offer(0, 64, std::span(mask, 1));
    EXPECT_EQ(mask[0], ~std::uint64_t(0));
    table.withdraw_offer(0, std::nullopt);
    EXPECT_EQ(table.reserve_lowest(64), 64u);
}

TEST(index_table, no_offer_goes_beyond_the_limit) {
    IndexTable table;
    table.set_limit(66);
    std::uint64_t mask[3];
    table.offer(0, 0, mask);
    EXPECT_EQ(mask[1], std::uint64_t(7));
    EXPECT_EQ(mask[2], std::uint64_t(0));
    table.withdraw_offer(0, std::nullopt);
}

TEST(index_table, two_offers_at_one_time) {
    IndexTable table;
    std::uint64_t mask[1];
    table.offer(1, 64, mask);
    EXPECT_EQ(table.reserve_lowest(0), IndexTable::predefined);
    table.offer(0, 0, mask);
    EXPECT_EQ(table.reserve_lowest(0), 128u); // the first index beyond both offers
    EXPECT_FALSE(table.reserve(5));
    EXPECT_FALSE(table.reserve(65));
    table.withdraw_offer(0, 5);
    EXPECT_EQ(table.reserve_lowest(0), 4u);
    EXPECT_EQ(table.reserve_lowest(60), 60u);
    EXPECT_EQ(table.reserve_lowest(64), 129u);
    table.withdraw_offer(1, 65);
    EXPECT_EQ(table.reserve_lowest(64), 64u);
    EXPECT_EQ(table.reserve_lowest(64), 66u);
}
