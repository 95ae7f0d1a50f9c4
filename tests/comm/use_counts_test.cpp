// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/instance/use_counts.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <map>
#include <random>
#include <string>

using namespace patchbay;

TEST(use_counts, counts_each_pair_alone) {
    UseCounts counts;
    EXPECT_EQ(counts.next(0, "a"), 0u);
    EXPECT_EQ(counts.next(0, "a"), 1u);
    EXPECT_EQ(counts.next(1, "a"), 0u);
    EXPECT_EQ(counts.next(0, "ab"), 0u);
    EXPECT_EQ(counts.next(0, ""), 0u);
    EXPECT_EQ(counts.next(0, std::string_view("a\0b", 3)), 0u);
    EXPECT_EQ(counts.next(0, "a"), 2u);
    EXPECT_EQ(counts.next(0, ""), 1u);
}

TEST(use_counts, as_a_map_does) {
    for (unsigned seed = 0; seed < 20; ++seed) {
        std::mt19937 random(seed);
        UseCounts counts;
        std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> reference;
        for (int n = 0; n < 20000; ++n) {
            const std::uint32_t family = random() % 3 == 0 ? random() : random() % 4;
            std::string text(random() % 64 == 0 ? random() % 3000 : random() % 4, '\0');
            for (char& letter : text) {
                letter = char(random() % 3);
            }
            ASSERT_EQ(counts.next(family, text), (reference[{family, text}]++));
        }
    }
}

TEST(use_counts, texts_longer_than_a_chunk) {
    UseCounts counts;
    for (const std::uint32_t use : {0u, 1u}) {
        for (const std::size_t length : {1u, 4085u, 4086u, 4087u, 20000u, 65535u}) {
            EXPECT_EQ(counts.next(7, std::string(length, 'x')), use) << length;
        }
    }
    EXPECT_THROW(counts.next(7, std::string(65536, 'x')), std::bad_alloc);
}

// What a program pays that never uses a tag again.
TEST(use_counts, bytes_per_tag) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer's allocator does not count";
#else
    constexpr int tags = 100000;
    for (const int length : {8, 20, 60}) {
        UseCounts counts;
        const std::size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
        for (int n = 0; n < tags; ++n) {
            std::string text = std::to_string(n);
            counts.next(0, text.insert(0, std::size_t(length) - text.size(), 'x'));
        }
        const std::size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
        const double each = double(after - before) / tags;
        std::printf("tags of %d characters: %.1f bytes each\n", length, each);
        EXPECT_LT(each, length + 10 + 12); // text, head, place in the table
    }
#endif
}
