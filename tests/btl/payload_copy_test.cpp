// SPDX-License-Identifier: BSD-3-Clause
#include "core/base/payload_copy.h"

#include "components/common/window_copy.h"
#include "core/base/copy_lines.h"
#include "tests/btl/sm_node.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <vector>

namespace patchbay::btl::sm {
namespace {

constexpr std::size_t sizes[] = {0, 1, 15, 63, 64, 65, 127, 2048, 4095, 4096, 4097, 20000, 65535};

struct alignas(64) Line {
    std::array<std::byte, 64> bytes{};
};

std::vector<std::byte> numbers(std::size_t count) {
    return {test::content(1), test::content(1) + count};
}

TEST(CopyPastCache, WritesAllBytesAndNothingBehindTheLastLine) {
    const std::vector<std::byte> from = numbers(65535 + 64);
    for (const std::size_t offset : {0, 1, 16, 63}) {
        for (const std::size_t size : sizes) {
            std::vector<Line> lines((size + 63) / 64 + 1);
            std::byte* to = lines[0].bytes.data();
            const std::size_t written = (size + 63) / 64 * 64;
            to[written] = std::byte(99);
            copy_past_cache(to, from.data() + offset, size);
            EXPECT_TRUE(std::equal(to, to + size, from.data() + offset)) << size << " bytes from " << offset;
            EXPECT_EQ(to[written], std::byte(99)) << size << " bytes from " << offset;
        }
    }
}

template <class Copy>
void expect_exact_copies(const Copy& copy) {
    const std::vector<std::byte> from = numbers(65535 + 64);
    for (const std::size_t offset : {0, 1, 16, 63}) {
        for (const std::size_t size : sizes) {
            std::vector<std::byte> to(64 + size + 1, std::byte(99));
            copy(to.data() + offset, from.data() + 63 - offset, size);
            EXPECT_TRUE(std::equal(to.data() + offset, to.data() + offset + size, from.data() + 63 - offset)) << size;
            EXPECT_TRUE(std::all_of(to.data(), to.data() + offset, [](std::byte one) { return one == std::byte(99); }));
            EXPECT_EQ(to[offset + size], std::byte(99)) << size;
        }
    }
}

TEST(LargeCopy, WritesAllBytesAndNoOthers) {
    expect_exact_copies([](std::byte* to, const std::byte* from, std::size_t bytes) { copy_large(to, from, bytes); });
}

TEST(MoveBytes, WritesAllBytesAndNoOthers) {
    expect_exact_copies([](std::byte* to, const std::byte* from, std::size_t bytes) { move_bytes(to, from, bytes); });
}

// Blocks that overlap, and are aliased or not, on either side of each other.
TEST(MoveBytes, MovesBlocksThatOverlap) {
    constexpr std::size_t bytes = 6000;
    for (const std::size_t distance : {1, 16, 63, 64, 1000, 4096 + 16, 4096 + 200}) {
        for (const bool upwards : {true, false}) {
            std::vector<std::byte> memory = numbers(bytes + distance);
            const std::size_t from = upwards ? 0 : distance;
            const std::vector<std::byte> before(
                memory.begin() + std::ptrdiff_t(from), memory.begin() + std::ptrdiff_t(from + bytes));
            std::byte* to = memory.data() + (upwards ? distance : 0);
            move_bytes(to, memory.data() + from, bytes);
            EXPECT_TRUE(std::equal(before.begin(), before.end(), to)) << distance << " upwards " << upwards;
        }
    }
}

TEST(PayloadCopy, WritesAllBytesAndNoOthersInAnyWay) {
    for (const Stores stores : {Stores::automatic, Stores::cached, Stores::uncached}) {
        PayloadCopy copy(stores);
        for (int i = 0; i < 3; ++i) { // automatic: until copies are timed
            expect_exact_copies([&copy](std::byte* to, const std::byte* from, std::size_t bytes) {
                copy.copy_exactly(to, from, bytes);
            });
        }
    }
}

TEST(WindowCopy, WritesAllBytesAndNoOthers) {
    expect_exact_copies(
        [](std::byte* to, const std::byte* from, std::size_t bytes) { common::copy_window(to, from, bytes); });
}

// Several pieces and a rest, both aliased and not, by the offset of the target in its page relative to the source.
TEST(WindowCopy, CopiesMoreThanOnePiece) {
    constexpr std::size_t page = 4096;
    for (const std::size_t size : {common::window_copy_piece, 2 * common::window_copy_piece + 77}) {
        std::vector<std::byte> from(size);
        for (std::size_t i = 0; i < size; ++i) {
            from[i] = std::byte(i * 31 + i / page);
        }
        std::vector<std::byte> to(size + 2 * page);
        const std::size_t start = (reinterpret_cast<std::uintptr_t>(from.data()) + page -
                                      reinterpret_cast<std::uintptr_t>(to.data()) % page) %
            page;
        for (const std::size_t distance : {0, 1, 16, 63, 64, 128, 2048}) {
            std::byte* place = to.data() + start + distance;
            EXPECT_EQ(is_aliased(place, from.data()), distance > 0 && distance < 64) << distance;
            std::fill(to.begin(), to.end(), std::byte(99));
            common::copy_window(place, from.data(), size);
            EXPECT_TRUE(std::equal(from.begin(), from.end(), place)) << size << " bytes, " << distance << " behind";
            EXPECT_EQ(place[size], std::byte(99));
            EXPECT_TRUE(std::all_of(to.data(), place, [](std::byte one) { return one == std::byte(99); }));
        }
    }
}

#ifdef __SSE2__
TEST(LargeCopy, WithoutAvx2) {
    expect_exact_copies([](std::byte* to, const std::byte* from, std::size_t bytes) {
        copy_lines_sse2(to, from, bytes / 64);
        std::copy_n(from + bytes / 64 * 64, bytes % 64, to + bytes / 64 * 64);
    });
}
#endif

// Copies of 32 KiB that a clock would find slow or fast.
class Ways : public testing::Test {
protected:
    static constexpr std::size_t bytes = 32768;
    static constexpr double slow_ns = 400 * 32, fast_ns = 30 * 32;

    void note(double ns, int times) {
        for (int i = 0; i < times; ++i) {
            way.note(ns, bytes);
        }
    }
    // Bytes that are written past the cache until ordinary stores are tried.
    std::size_t stay() {
        std::size_t copied = 0;
        while (way.uncached()) {
            way.skip(bytes);
            copied += bytes;
        }
        return copied - bytes;
    }
    StoreWay way{Stores::automatic, 65};
};

TEST_F(Ways, OneSlowCopyOfAnInterruptedProcessChangesNothing) {
    note(fast_ns, 10);
    for (int i = 0; i < 100; ++i) {
        note(1e6, 1);
        note(fast_ns, 4);
        EXPECT_FALSE(way.uncached());
    }
}

TEST(StoreWay, WhatIsSlowIsAnArgument) {
    constexpr std::size_t bytes = 4096;
    StoreWay strict{Stores::automatic, 65};
    StoreWay patient{Stores::automatic, 110};
    for (int i = 0; i < StoreWay::votes_needed; ++i) {
        strict.note(100 * 4, bytes);
        patient.note(100 * 4, bytes);
    }
    EXPECT_TRUE(strict.uncached());
    EXPECT_FALSE(patient.uncached());
}

TEST_F(Ways, SlowCopiesLeadPastTheCacheAndLongerEachTime) {
    std::size_t expected = StoreWay::shortest_stay;
    for (int i = 0; i < 10; ++i) {
        EXPECT_FALSE(way.uncached());
        note(slow_ns, StoreWay::votes_needed);
        EXPECT_TRUE(way.uncached());
        EXPECT_EQ(stay(), expected);
        expected = std::min(2 * expected, StoreWay::longest_stay);
    }
    note(fast_ns, 2 * StoreWay::votes_needed); // the processes have moved
    EXPECT_FALSE(way.uncached());
    note(slow_ns, StoreWay::votes_needed);
    EXPECT_EQ(stay(), StoreWay::shortest_stay);
}

// What lies in the receiver's cache during it is not what lies there later.
TEST_F(Ways, TheFirstLapIsNotTimed) {
    for (std::size_t copied = 0; copied < StoreWay::lap; copied += bytes) {
        EXPECT_TRUE(way.any_way_will_do());
        way.skip(bytes);
    }
    EXPECT_FALSE(way.any_way_will_do()) << "the next one is to be timed";
    note(slow_ns, StoreWay::votes_needed);
    EXPECT_EQ(stay(), StoreWay::shortest_stay); // the last payload belonged to the next trial
    for (std::size_t copied = bytes; copied < StoreWay::lap; copied += bytes) {
        EXPECT_TRUE(way.any_way_will_do());
        way.skip(bytes);
    }
    EXPECT_FALSE(way.any_way_will_do());
}

// The memory has not been used for a while.
TEST_F(Ways, ARestartForgetsWhatWasMeasured) {
    for (int i = 0; i < 3; ++i) {
        note(slow_ns, StoreWay::votes_needed);
        stay();
    }
    note(slow_ns, StoreWay::votes_needed);
    EXPECT_TRUE(way.uncached());
    way.restart();
    EXPECT_FALSE(way.uncached());
    for (std::size_t copied = 0; copied < StoreWay::lap; copied += bytes) {
        EXPECT_TRUE(way.any_way_will_do());
        way.skip(bytes);
    }
    EXPECT_FALSE(way.any_way_will_do()) << "the next one is to be timed";
    note(slow_ns, StoreWay::votes_needed);
    EXPECT_EQ(stay(), StoreWay::shortest_stay);
    StoreWay chosen(Stores::uncached, 65);
    chosen.restart();
    EXPECT_TRUE(chosen.uncached());
}

TEST_F(Ways, FastCopiesAreTimedSeldom) {
    for (std::size_t copied = 0; copied < StoreWay::lap; copied += bytes) {
        way.skip(bytes);
    }
    note(fast_ns, StoreWay::votes_needed);
    for (int i = 1; i < StoreWay::seldom; ++i) {
        EXPECT_TRUE(way.any_way_will_do()) << i;
        way.skip(bytes);
    }
    EXPECT_FALSE(way.any_way_will_do());
}

TEST(StoreWay, IsKeptWhereItWasChosen) {
    StoreWay cached(Stores::cached, 65), uncached(Stores::uncached, 65);
    std::vector<Line> to(512);
    const std::vector<std::byte> from = numbers(32768);
    for (int i = 0; i < 1000; ++i) {
        cached.copy(to[0].bytes.data(), from.data(), from.size());
        uncached.copy(to[0].bytes.data(), from.data(), from.size());
    }
    EXPECT_TRUE(cached.any_way_will_do());
    EXPECT_FALSE(cached.uncached());
    EXPECT_TRUE(uncached.uncached());
}

} // namespace
} // namespace patchbay::btl::sm
