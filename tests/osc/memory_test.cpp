// SPDX-License-Identifier: BSD-3-Clause
// The memory that a constructor allocates for a window, in the node segment and in the process.
#include "frameworks/osc/memory.h"

#include "core/memory/node_segment.h"
#include "tests/core_runtime/processes.h"

#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <span>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace patchbay::osc {
namespace {

bool is_zero(const Memory& memory, std::size_t bytes) {
    return std::ranges::all_of(std::span(memory.base(), bytes), [](std::byte b) { return b == std::byte(0); });
}

TEST(WindowMemory, AnotherProcessFindsItAtItsAddress) {
    const int fd = memfd_create("memory_test", MFD_CLOEXEC);
    ASSERT_GE(fd, 0);
    struct Shared {
        std::atomic<SharedAddress> address;
        std::atomic<bool> seen;
    };
    auto* shared = test::shared_memory<Shared>();
    EXPECT_TRUE(test::run_processes(2, 30, [&](int rank) {
        auto segment = NodeSegment::attach_fd(fd, {1, std::uint32_t(rank)}, 2);
        if (!segment) {
            return false;
        }
        if (rank == 0) {
            auto memory = Memory::allocate(segment->get(), 100'000, 4096, true);
            if (!memory || !is_zero(**memory, 100'000)) {
                return false;
            }
            memory.value()->base()[99'999] = std::byte(77);
            shared->address.store(memory.value()->address());
            while (!shared->seen.load()) {
                usleep(100);
            }
            return true;
        }
        while (shared->address.load() == 0) {
            usleep(100);
        }
        std::byte* base = (*segment)->heap().at(shared->address.load());
        const bool good = base != nullptr && base[99'999] == std::byte(77);
        shared->seen.store(true);
        return good;
    }));
    close(fd);
}

TEST(WindowMemory, IsAlignedAndFreed) {
    auto segment = NodeSegment::create_private();
    ASSERT_TRUE(segment);
    const auto before = (*segment)->heap().usage();
    for (std::size_t alignment = 1; alignment <= std::size_t(1) << 20; alignment *= 16) {
        for (const std::size_t bytes :
            {std::size_t(1), std::size_t(5'000), std::size_t(50'000), std::size_t(3) << 20}) {
            auto shared = Memory::allocate(segment->get(), bytes, alignment, true);
            auto own = Memory::allocate(nullptr, bytes, alignment, false);
            ASSERT_TRUE(shared && own);
            for (Memory* memory : {shared->get(), own->get()}) {
                EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->base()) % alignment, 0U);
                EXPECT_TRUE(is_zero(*memory, bytes));
                std::fill_n(memory->base(), bytes, std::byte(0xff));
            }
            EXPECT_EQ((*segment)->heap().at((*shared)->address()), (*shared)->base());
            EXPECT_EQ((*own)->address(), 0U);
        }
    }
    EXPECT_EQ((*segment)->heap().usage().blocks, before.blocks);
    EXPECT_EQ((*segment)->heap().usage().bytes, before.bytes);
}

// Where blocks of the C library do not begin.
TEST(WindowMemory, BeginsInTheMiddleOfAPage) {
    auto segment = NodeSegment::create_private();
    ASSERT_TRUE(segment);
    std::vector<std::unique_ptr<Memory>> taken;
    for (const std::size_t bytes : {std::size_t(20'000), std::size_t(700), std::size_t(50'001), std::size_t(3) << 20}) {
        auto memory = Memory::allocate(segment->get(), bytes, 64, true);
        ASSERT_TRUE(memory);
        if (bytes >= 20'000) {
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>((*memory)->base()) % 4096, 2048U) << bytes;
        }
        taken.push_back(std::move(*memory));
    }
}

TEST(WindowMemory, OfNoBytesIsNowhere) {
    auto segment = NodeSegment::create_private();
    ASSERT_TRUE(segment);
    auto memory = Memory::allocate(segment->get(), 0, 8, true);
    ASSERT_TRUE(memory);
    EXPECT_EQ((*memory)->base(), nullptr);
    EXPECT_EQ((*memory)->address(), 0U);
}

TEST(WindowMemory, IsPrivateWhereTheSegmentHasNoRoom) {
    auto segment = NodeSegment::create_private();
    ASSERT_TRUE(segment);
    std::vector<std::unique_ptr<Memory>> taken;
    for (unsigned i = 0; i <= SharedHeap::most_chunks; ++i) { // each has a chunk of its own
        auto memory = Memory::allocate(segment->get(), SharedHeap::large, 64, true);
        if (!memory) {
            EXPECT_EQ(memory.error().code, Errc::out_of_memory);
            EXPECT_NE(memory.error().text, "");
            auto own = Memory::allocate(segment->get(), SharedHeap::large, 64, false);
            ASSERT_TRUE(own);
            EXPECT_EQ((*own)->address(), 0U);
            EXPECT_TRUE(is_zero(**own, SharedHeap::large));
            return;
        }
        taken.push_back(std::move(*memory));
    }
    FAIL() << "the segment has more chunks than it can number";
}

TEST(WindowMemory, TooMuchIsAnErrorWithARemedy) {
    for (const std::size_t bytes : {SIZE_MAX, SIZE_MAX / 2}) {
        auto memory = Memory::allocate(nullptr, bytes, 64, false);
        ASSERT_FALSE(memory);
        EXPECT_EQ(memory.error().code, Errc::out_of_memory);
        EXPECT_NE(memory.error().text.find("ulimit -v"), std::string::npos);
    }
    EXPECT_FALSE(Memory::allocate(nullptr, 8, 64, true));
}

} // namespace
} // namespace patchbay::osc
