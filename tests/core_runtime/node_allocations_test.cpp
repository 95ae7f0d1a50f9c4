// SPDX-License-Identifier: BSD-3-Clause
// The blocks of MPI_Alloc_mem: those that have been freed are kept, within the limits, and go back when they must.
#include "core/memory/node_allocations.h"
#include "core/memory/shared_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace patchbay {
namespace {

constexpr std::size_t KiB = 1024;
constexpr std::size_t MiB = 1024 * KiB;
constexpr std::size_t alignment = 64;

// One process of two that share a segment.
class NodeAllocationsTest : public testing::Test {
protected:
    void SetUp() override {
        Result<int> fd = shared_file::make_memfd("node-allocations-test");
        ASSERT_TRUE(fd);
        _fd = *fd;
        auto attached = NodeSegment::attach_fd(_fd, {0, 0}, 2);
        ASSERT_TRUE(attached);
        segment = std::move(*attached);
        _at_first = segment->heap().usage();
    }
    void TearDown() override {
        all.detach();
        segment.reset();
        close(_fd);
    }
    std::size_t blocks() { return segment->heap().usage().blocks - _at_first.blocks; }
    std::size_t bytes() { return segment->heap().usage().bytes - _at_first.bytes; }
    std::uint64_t file_bytes() const {
        struct stat file {};
        fstat(_fd, &file);
        return std::uint64_t(file.st_size);
    }

    NodeAllocations& all = NodeAllocations::get();
    std::unique_ptr<NodeSegment> segment;

private:
    int _fd = -1;
    SharedHeap::Usage _at_first;
};

TEST_F(NodeAllocationsTest, AFreedBlockIsTheNextOneOfItsSize) {
    all.attach(*segment, 64 * MiB, 16 * MiB);
    std::vector<void*> of;
    for (const std::size_t size : {4 * KiB, 64 * KiB, MiB}) {
        of.push_back(all.allocate(size, alignment));
        ASSERT_NE(of.back(), nullptr);
    }
    for (void* memory : of) {
        EXPECT_TRUE(all.free(memory));
    }
    EXPECT_EQ(blocks(), 3U);
    EXPECT_EQ(all.allocate(4 * KiB, alignment), of[0]);
    EXPECT_EQ(all.allocate(40 * KiB, alignment), of[1]);
    EXPECT_EQ(all.allocate(MiB, alignment), of[2]);
    for (void* memory : of) {
        EXPECT_TRUE(all.free(memory));
        EXPECT_FALSE(all.free(memory)) << "is not the program's any more";
    }
}

TEST_F(NodeAllocationsTest, OnlyABlockThatFitsIsTaken) {
    all.attach(*segment, 64 * MiB, 16 * MiB);
    void* const kept = all.allocate(100 * KiB, alignment);
    EXPECT_TRUE(all.free(kept));
    void* const longer = all.allocate(101 * KiB, alignment);
    void* const much_shorter = all.allocate(49 * KiB, alignment);
    EXPECT_NE(longer, kept);
    EXPECT_NE(much_shorter, kept);
    EXPECT_EQ(blocks(), 3U);
    void* const fitting = all.allocate(50 * KiB, alignment);
    EXPECT_EQ(fitting, kept);
    for (void* memory : {longer, much_shorter, fitting}) {
        EXPECT_TRUE(all.free(memory));
    }
}

TEST_F(NodeAllocationsTest, TheBytesThatAreKeptAreLimited) {
    all.attach(*segment, 64 * MiB, 2 * MiB + 512 * KiB);
    std::vector<void*> of;
    for (int i = 0; i < 4; ++i) {
        of.push_back(all.allocate(MiB, alignment));
    }
    void* const great = all.allocate(3 * MiB, alignment);
    for (void* memory : of) {
        EXPECT_TRUE(all.free(memory));
    }
    EXPECT_EQ(bytes(), (2 + 3) * MiB);
    EXPECT_TRUE(all.free(great)) << "longer than the limit, it is not kept and takes no place of others";
    EXPECT_EQ(bytes(), 2 * MiB);
    // The last ones, whose memory is in the caches.
    EXPECT_EQ(all.allocate(MiB, alignment), of[3]);
    EXPECT_EQ(all.allocate(MiB, alignment), of[2]);
    EXPECT_EQ(bytes(), 2 * MiB);
    EXPECT_TRUE(all.free(of[2]) && all.free(of[3]));
}

TEST_F(NodeAllocationsTest, TheNumberThatIsKeptIsLimited) {
    all.attach(*segment, 64 * MiB, 64 * MiB);
    std::vector<void*> of;
    for (std::size_t i = 0; i < NodeAllocations::most_kept + 3; ++i) {
        of.push_back(all.allocate(8 * KiB, alignment));
    }
    for (void* memory : of) {
        EXPECT_TRUE(all.free(memory));
    }
    EXPECT_EQ(blocks(), NodeAllocations::most_kept);
    // Out of the middle of the list: another size is found behind those that came after it.
    void* const other = all.allocate(64 * KiB, alignment);
    EXPECT_TRUE(all.free(other));
    EXPECT_TRUE(all.free(all.allocate(8 * KiB, alignment)));
    EXPECT_EQ(all.allocate(64 * KiB, alignment), other);
    EXPECT_EQ(blocks(), NodeAllocations::most_kept);
    EXPECT_TRUE(all.free(other));
}

TEST_F(NodeAllocationsTest, NoneIsKept) {
    all.attach(*segment, 64 * MiB, 0);
    EXPECT_TRUE(all.free(all.allocate(4 * KiB, alignment)));
    EXPECT_EQ(blocks(), 0U);
}

TEST_F(NodeAllocationsTest, AllGoBackWithTheSegment) {
    all.attach(*segment, 64 * MiB, 16 * MiB);
    void* const used = all.allocate(64 * KiB, alignment);
    EXPECT_TRUE(all.free(all.allocate(MiB, alignment)));
    EXPECT_EQ(blocks(), 2U);
    all.detach();
    EXPECT_EQ(blocks(), 1U);
    *static_cast<char*>(used) = 1;
    all.attach(*segment, 64 * MiB, 16 * MiB);
    EXPECT_TRUE(all.free(used));
}

// The file cannot grow, so that only what is kept can be taken.
TEST_F(NodeAllocationsTest, TheHeapTakesWhatIsKeptWhereItFindsNoMemory) {
    all.attach(*segment, 64 * MiB, 16 * MiB);
    EXPECT_TRUE(all.free(all.allocate(4 * MiB, alignment)));
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit limit{file_bytes(), before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    EXPECT_TRUE(segment->heap().alloc(4 * MiB, segment->slot()));
    EXPECT_FALSE(segment->heap().alloc(4 * MiB, segment->slot()));
    // From the lock of an allocation, too.
    EXPECT_EQ(all.allocate(64 * MiB, alignment), nullptr);
    setrlimit(RLIMIT_FSIZE, &before);
}

} // namespace
} // namespace patchbay
