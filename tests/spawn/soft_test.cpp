// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/dynamic/spawn_info.h"

#include <gtest/gtest.h>

namespace {
using patchbay::largest_allowed;

TEST(soft, is_a_union_of_triplets) {
    EXPECT_EQ(largest_allowed("4", 8), 4);
    EXPECT_EQ(largest_allowed("1:8", 5), 5);
    EXPECT_EQ(largest_allowed("1:8:3", 8), 7);
    EXPECT_EQ(largest_allowed("1:8:3", 6), 4);
    EXPECT_EQ(largest_allowed("2:10000:2", 9), 8);
    EXPECT_EQ(largest_allowed("3,1 , 2", 2), 2);
    EXPECT_EQ(largest_allowed("0:1,16,4", 10), 4);
    EXPECT_EQ(largest_allowed("2147483647", 2147483647), 2147483647);
}

TEST(soft, may_run_downwards) {
    EXPECT_EQ(largest_allowed("8:1:-3", 8), 8);
    EXPECT_EQ(largest_allowed("8:1:-3", 7), 5);
    EXPECT_EQ(largest_allowed("8:1:-3", 1), 0);
    EXPECT_EQ(largest_allowed("1:8:-1", 8), 0);
    EXPECT_EQ(largest_allowed("2147483647:-2147483648:-2147483648", 8), 0);
}

TEST(soft, ignores_numbers_that_are_negative_or_too_large) {
    EXPECT_EQ(largest_allowed("9", 8), 0);
    EXPECT_EQ(largest_allowed("-5:-1", 8), 0);
    EXPECT_EQ(largest_allowed("-5:100:4", 8), 7);
    EXPECT_EQ(largest_allowed("0", 8), 0);
    EXPECT_EQ(largest_allowed("8:1", 8), 0);
}

TEST(soft, is_wrong_otherwise) {
    for (const char* text : {"", "x", "1:", "1:2:0", "1:2:3:4", "1,,2", "1.5", "99999999999"}) {
        EXPECT_FALSE(largest_allowed(text, 8)) << text;
    }
}

} // namespace
