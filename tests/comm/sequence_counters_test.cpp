// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/instance/sequence_counters.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <map>
#include <random>
#include <string>

using namespace patchbay;

TEST(sequence_counters, counts_each_pair_alone) {
    SequenceCounters counts;
    EXPECT_EQ(counts.next(0, "a"), 0u);
    EXPECT_EQ(counts.next(0, "a"), 1u);
    EXPECT_EQ(counts.next(1, "a"), 0u);
    EXPECT_EQ(counts.next(0, "ab"), 0u);
    EXPECT_EQ(counts.next(0, ""), 0u);
    EXPECT_EQ(counts.next(0, std::string_view("a\0b", 3)), 0u);
    EXPECT_EQ(counts.next(0, "a"), 2u);
    EXPECT_EQ(counts.next(0, ""), 1u);
    EXPECT_EQ(counts.next(0, "a", 2), 3u);
    EXPECT_EQ(counts.next(0, "a", 7), 7u);
    EXPECT_EQ(counts.next(0, "a"), 8u);
}

TEST(sequence_counters, as_a_map_does) {
    for (unsigned seed = 0; seed < 20; ++seed) {
        std::mt19937 random(seed);
        SequenceCounters counts;
        std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> reference;
        for (int n = 0; n < 20000; ++n) {
            const std::uint32_t group_id = random() % 3 == 0 ? random() : random() % 4;
            std::string text(random() % 64 == 0 ? random() % 3000 : random() % 4, '\0');
            for (char& message : text) {
                message = char(random() % 3);
            }
            ASSERT_EQ(counts.next(group_id, text), (reference[{group_id, text}]++));
        }
    }
}

TEST(sequence_counters, texts_longer_than_a_chunk) {
    SequenceCounters counts;
    for (const std::uint32_t use : {0u, 1u}) {
        for (const std::size_t length : {1u, 4085u, 4086u, 4087u, 20000u, 65535u}) {
            EXPECT_EQ(counts.next(7, std::string(length, 'x')), use) << length;
        }
    }
    EXPECT_THROW(counts.next(7, std::string(65536, 'x')), std::bad_alloc);
}

// The memory of a program that never uses a tag twice.
TEST(sequence_counters, bytes_per_tag) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer's allocator does not count";
#else
    constexpr int tags = 100000;
    for (const int length : {8, 20, 60}) {
        SequenceCounters counts;
        const std::size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
        for (int n = 0; n < tags; ++n) {
            std::string text = std::to_string(n);
            counts.next(0, text.insert(0, std::size_t(length) - text.size(), 'x'));
        }
        const std::size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
        const double each = double(after - before) / tags;
        std::printf("tags of %d characters: %.1f bytes each\n", length, each);
        EXPECT_LT(each, length + 10 + 12); // string tag, header, entry of the table
    }
#endif
}
