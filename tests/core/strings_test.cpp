// SPDX-License-Identifier: BSD-3-Clause
#include "core/base/strings.h"

#include <gtest/gtest.h>

using namespace patchbay;
using namespace std::chrono_literals;

TEST(Strings, TrimAndSplit) {
    EXPECT_EQ(trim("  a b\t\n"), "a b");
    EXPECT_EQ(trim(" \t"), "");
    EXPECT_EQ(split("a, b ,,c", ','), (std::vector<std::string>{"a", "b", "c"}));
    EXPECT_TRUE(split("", ',').empty());
    EXPECT_TRUE(split(" , ", ',').empty());
    EXPECT_EQ(join({"a", "b"}, ", "), "a, b");
}

TEST(Strings, EditDistanceCountsSwapsOnce) {
    EXPECT_EQ(edit_distance("", "abc"), 3u);
    EXPECT_EQ(edit_distance("same", "same"), 0u);
    EXPECT_EQ(edit_distance("slef", "self"), 1u);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(Strings, NearestNameIsTheLikelySlipOrNone) {
    const std::vector<std::string> known = {"self", "sm", "ofi", "btl_sm_eager_limit"};
    EXPECT_EQ(nearest_name("slef", known), "self");
    EXPECT_EQ(nearest_name("btl_sm_eger_limit", known), "btl_sm_eager_limit");
    EXPECT_EQ(nearest_name("BTL_SM_EAGER_LIMIT", known), "btl_sm_eager_limit");
    EXPECT_EQ(nearest_name("btl_sm_eager", known), "btl_sm_eager_limit"); // its end is missing
    EXPECT_EQ(nearest_name("infiniband", known), "");
    EXPECT_EQ(suggestion("slef", known), "; did you mean 'self'?");
    EXPECT_EQ(suggestion("infiniband", known), "");
    EXPECT_EQ(nearest_name("x", {}), "");
}

TEST(Strings, Bool) {
    for (const char* text : {"true", "YES", "on", "1", " 1 "}) {
        ASSERT_TRUE(parse_bool(text)) << text;
        EXPECT_TRUE(*parse_bool(text)) << text;
    }
    for (const char* text : {"false", "No", "off", "0"}) {
        ASSERT_TRUE(parse_bool(text)) << text;
        EXPECT_FALSE(*parse_bool(text)) << text;
    }
    EXPECT_FALSE(parse_bool("maybe"));
    EXPECT_FALSE(parse_bool(""));
}

TEST(Strings, Int) {
    EXPECT_EQ(*parse_int("42"), 42);
    EXPECT_EQ(*parse_int("-0x10"), -16);
    EXPECT_EQ(*parse_int("9223372036854775807"), INT64_MAX);
    EXPECT_EQ(*parse_int("-9223372036854775808"), INT64_MIN);
    for (const char* text : {"", "-", "12x", "1.5", "9223372036854775808", "0x", "--1"}) {
        EXPECT_FALSE(parse_int(text)) << text;
    }
}

TEST(Strings, Size) {
    EXPECT_EQ(*parse_size("4096"), 4096u);
    EXPECT_EQ(*parse_size("64k"), 65536u);
    EXPECT_EQ(*parse_size("4KiB"), 4096u);
    EXPECT_EQ(*parse_size("4 KB"), 4096u);
    EXPECT_EQ(*parse_size("1MiB"), 1048576u);
    EXPECT_EQ(*parse_size("2g"), 2147483648u);
    EXPECT_EQ(*parse_size("17b"), 17u);
    for (const char* text : {"", "k", "-1", "4Q", "1.5k", "99999999999999999999", "9000000t", "4KiBs", "1ib"}) {
        EXPECT_FALSE(parse_size(text)) << text;
    }
    EXPECT_EQ(format_size(4096), "4KiB");
    EXPECT_EQ(format_size(4097), "4097");
    EXPECT_EQ(format_size(0), "0");
    EXPECT_EQ(format_size(3ull << 40), "3TiB");
}

TEST(Strings, Duration) {
    EXPECT_EQ(*parse_duration("10us"), 10us);
    EXPECT_EQ(*parse_duration("5 ms"), 5ms);
    EXPECT_EQ(*parse_duration("1.5s"), 1500ms);
    EXPECT_EQ(*parse_duration("7ns"), 7ns);
    EXPECT_EQ(*parse_duration("0"), 0ns);
    EXPECT_EQ(*parse_duration("9007199254740993ns"), 9007199254740993ns); // no double is that number
    EXPECT_FALSE(parse_duration("10000000000000000000ns"));
    EXPECT_FALSE(parse_duration("9300000000s"));
    for (const char* text : {"", "10", "ms", "-1ms", "1h", "nan s", "1e300s"}) {
        EXPECT_FALSE(parse_duration(text)) << text;
    }
    EXPECT_EQ(format_duration(10us), "10us");
    EXPECT_EQ(format_duration(1500us), "1500us");
    EXPECT_EQ(format_duration(0ns), "0");
    EXPECT_EQ(format_duration(2s), "2s");
}
