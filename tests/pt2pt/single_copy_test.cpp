// SPDX-License-Identifier: BSD-3-Clause
#include "components/btl/sm/single_copy.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace patchbay::btl::sm {
namespace {

TEST(SingleCopy, ProbeFindsTheProcessThatShowsTheCard) {
    ProbeCard card{};
    EXPECT_EQ(probe_process(getpid(), card), ENOTCONN); // nobody has shown anything
    {
        OwnProbe probe(card);
        EXPECT_EQ(probe_process(getpid(), card), 0);
        EXPECT_EQ(probe_process(0, card), ENOTCONN);
        // Another process that has the address, but not the number: what a foreign pid namespace looks like.
        ProbeCard other{};
        other.address.store(card.address.load());
        other.value.store(card.value.load() + 2);
        EXPECT_EQ(probe_process(getpid(), other), EREMCHG);
        other.address.store(64); // no memory there
        EXPECT_EQ(probe_process(getpid(), other), EFAULT);
        EXPECT_EQ(probe_process(0x3fffffff, card), ESRCH); // above every pid_max
    }
    EXPECT_EQ(probe_process(getpid(), card), ENOTCONN);
}

TEST(SingleCopy, ReadsIntoManyBlocks) {
    std::vector<unsigned char> from(300000);
    std::iota(from.begin(), from.end(), 0);
    std::vector<unsigned char> to(from.size());
    std::vector<iovec> blocks; // more than one system call takes
    for (std::size_t at = 0; at < to.size(); at += 100) {
        blocks.push_back({to.data() + at, 100});
    }
    EXPECT_EQ(
        read_process(getpid(), reinterpret_cast<std::uintptr_t>(from.data()), blocks), std::ptrdiff_t(from.size()));
    EXPECT_EQ(from, to);
}

TEST(SingleCopy, StopsWhereMemoryEnds) {
    constexpr std::size_t page = 4096;
    auto* memory = static_cast<unsigned char*>(
        mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(memory, MAP_FAILED);
    std::memset(memory, 7, page);
    ASSERT_EQ(mprotect(memory + page, page, PROT_NONE), 0);
    std::array<unsigned char, 2 * page> to{};
    const std::array<iovec, 2> blocks{{{to.data(), 1000}, {to.data() + 1000, 2 * page - 1000}}};
    const std::ptrdiff_t got = read_process(getpid(), reinterpret_cast<std::uintptr_t>(memory), blocks);
    EXPECT_EQ(got, std::ptrdiff_t(page));
    EXPECT_EQ(to[page - 1], 7);
    EXPECT_EQ(to[page], 0);
    EXPECT_EQ(read_process(getpid(), reinterpret_cast<std::uintptr_t>(memory + page), blocks), -EFAULT);
    munmap(memory, 2 * page);
}

} // namespace
} // namespace patchbay::btl::sm
