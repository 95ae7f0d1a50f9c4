// SPDX-License-Identifier: BSD-3-Clause
#include "core/memory/node_segment.h"
#include "core/memory/shared_file.h"
#include "tests/core_runtime/processes.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <vector>

namespace patchbay {
namespace {
using test::run_processes;
using Backing = SharedHeap::Backing;
constexpr std::uint32_t no_owner = SharedHeap::no_owner;

int memfd() {
    Result<int> fd = shared_file::make_memfd("shared-heap-test");
    EXPECT_TRUE(fd);
    return *fd;
}

std::unique_ptr<NodeSegment> attach(int fd, std::uint32_t rank) {
    auto segment = NodeSegment::attach_fd(fd, {0, rank}, 2);
    return segment ? std::move(*segment) : nullptr;
}

std::uint64_t memory_taken(int fd) {
    struct stat file {};
    fstat(fd, &file);
    return std::uint64_t(file.st_blocks) * 512;
}

bool holds(const SharedBlock& block, int value) {
    return std::all_of(
        block.bytes.begin(), block.bytes.end(), [value](std::byte byte) { return byte == std::byte(value); });
}

class SharedHeapTest : public testing::Test {
protected:
    ~SharedHeapTest() override { close(fd); }
    const int fd = memfd();
    std::unique_ptr<NodeSegment> one = attach(fd, 0);
    std::unique_ptr<NodeSegment> two = attach(fd, 1);
};

TEST_F(SharedHeapTest, WhatCannotBeMappedTakesNothing) {
    const std::size_t chunks = one->heap().chunks();
    for (const std::uint64_t bytes :
        {std::uint64_t(1) << 47, (std::uint64_t(1) << 47) + 1, std::uint64_t(1) << 62, ~std::uint64_t(0) - 100}) {
        for (int i = 0; i < 3; ++i) {
            auto block = one->heap().alloc(bytes, 0, Backing::sparse);
            ASSERT_FALSE(block) << bytes;
            EXPECT_EQ(block.error().code, Errc::out_of_memory) << block.error().text;
        }
    }
    EXPECT_EQ(one->heap().chunks(), chunks);
    auto block = two->heap().alloc(16u << 20, 1);
    EXPECT_TRUE(block) << block.error().text;
}

TEST_F(SharedHeapTest, ABlockIsZeroAndTheSameForAllProcesses) {
    for (std::size_t bytes : {1u, 100u, 512u, 513u, 5000u, 136u << 10, 600u << 10, 5u << 20}) {
        auto block = one->heap().alloc(bytes, 0);
        ASSERT_TRUE(block) << block.error().text;
        EXPECT_GE(block->bytes.size(), bytes);
        EXPECT_TRUE(holds(*block, 0)) << bytes;
        std::memset(block->bytes.data(), 7, block->bytes.size());
        std::byte* there = two->heap().at(block->address);
        ASSERT_NE(there, nullptr);
        EXPECT_NE(there, block->bytes.data());
        EXPECT_TRUE(holds({0, {there, block->bytes.size()}}, 7));
        two->heap().free(block->address);
        auto again = two->heap().alloc(bytes, 1);
        ASSERT_TRUE(again);
        EXPECT_EQ(again->address, block->address) << "what was freed is used again";
        EXPECT_TRUE(holds(*again, 0)) << bytes;
        two->heap().free(again->address);
    }
    EXPECT_EQ(one->heap().usage().blocks, 0u);
}

TEST_F(SharedHeapTest, AnAddressOfThisProcessIsFoundInItsBlock) {
    for (const std::size_t bytes : {100u, 5u << 20}) {
        auto block = one->heap().alloc(bytes, 0);
        ASSERT_TRUE(block) << block.error().text;
        std::byte* memory = block->bytes.data();
        EXPECT_EQ(one->heap().address_of_memory(memory, bytes), block->address);
        EXPECT_EQ(one->heap().address_of_memory(memory + 17, bytes - 17), block->address + 17);
        EXPECT_EQ(one->heap().address_of_memory(memory, std::size_t(1) << 40), 0u) << "it ends behind the chunk";
        EXPECT_EQ(two->heap().address_of_memory(memory, bytes), 0u) << "it is mapped elsewhere there";
        one->heap().free(block->address);
    }
    int other = 0;
    EXPECT_EQ(one->heap().address_of_memory(&other, sizeof other), 0u);
    EXPECT_EQ(one->heap().address_of_memory(nullptr, 0), 0u);
}

TEST_F(SharedHeapTest, MemoryOfAFreedBlockGoesBackToTheSystem) {
    const std::uint64_t before = memory_taken(fd);
    for (std::size_t bytes : {std::size_t(300) << 10, std::size_t(64) << 20}) {
        auto block = one->heap().alloc(bytes, 0);
        ASSERT_TRUE(block);
        EXPECT_GE(memory_taken(fd), before + bytes);
        two->heap().free(block->address);
        EXPECT_LE(memory_taken(fd), before + (64 << 10));
    }
}

TEST_F(SharedHeapTest, ASmallBlockKeepsItsPagesForTheNextOne) {
    for (const std::size_t bytes : {std::size_t(4) << 10, std::size_t(48) << 10}) {
        auto block = one->heap().alloc(bytes, 0);
        ASSERT_TRUE(block);
        const std::uint64_t before = memory_taken(fd);
        std::memset(block->bytes.data(), 7, block->bytes.size());
        two->heap().free(block->address);
        EXPECT_EQ(memory_taken(fd), before);
        auto next = two->heap().alloc(bytes, 0);
        ASSERT_TRUE(next);
        EXPECT_EQ(next->address, block->address);
        EXPECT_TRUE(holds(*next, 0));
        EXPECT_EQ(memory_taken(fd), before);
        one->heap().free(next->address);
    }
}

// The system is asked for memory only where a block has none yet: that takes longer than all else.
TEST_F(SharedHeapTest, ABlockInPlaceOfSmallOnesTakesNoMemory) {
    SharedHeap& heap = one->heap();
    auto first = heap.alloc(5000, 0);
    auto second = heap.alloc(20000, 0);
    auto last = heap.alloc(5000, 0);
    ASSERT_TRUE(first && second && last);
    std::memset(second->bytes.data(), 7, second->bytes.size());
    heap.free(second->address);
    heap.free(first->address);
    int there = 0;
    heap.set_probe({[](void* count, const char* step) {
                        *static_cast<int*>(count) += std::string_view(step) == "memory is there";
                    },
        &there});
    for (const std::size_t bytes : {1000u, 4000u, 12000u, 8000u}) { // the last two of one that was merged
        auto block = heap.alloc(bytes, 0);
        ASSERT_TRUE(block);
        EXPECT_LT(block->address, last->address);
        EXPECT_TRUE(holds(*block, 0));
    }
    EXPECT_EQ(there, 4);
    ASSERT_TRUE(heap.alloc(5000, 0));
    EXPECT_EQ(there, 4) << "behind the last one";
    heap.set_probe({});
}

TEST_F(SharedHeapTest, ASmallSparseBlockGivesItsPagesBack) {
    auto block = one->heap().alloc(std::size_t(16) << 10, 0, Backing::sparse);
    ASSERT_TRUE(block);
    const std::uint64_t before = memory_taken(fd);
    ASSERT_TRUE(one->heap().commit(block->address, 0, 8192));
    EXPECT_EQ(memory_taken(fd), before + 8192);
    two->heap().free(block->address);
    EXPECT_EQ(memory_taken(fd), before);
}

TEST_F(SharedHeapTest, ASparseBlockTakesMemoryWhenItIsCommitted) {
    for (std::size_t bytes : {std::size_t(136) << 10, std::size_t(1) << 36}) {
        auto small = one->heap().alloc(100, 0); // so that the next block does not begin with a page by chance
        auto block = one->heap().alloc(bytes, 0, Backing::sparse);
        ASSERT_TRUE(small && block);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block->bytes.data()) % 4096, 0u);
        const std::uint64_t before = memory_taken(fd);
        ASSERT_TRUE(two->heap().commit(block->address, 8192, 4096));
        EXPECT_LE(memory_taken(fd), before + 4096);
        two->heap().at(block->address)[8192] = std::byte(1);
        EXPECT_EQ(block->bytes[8192], std::byte(1));
        one->heap().free(block->address);
        one->heap().free(small->address);
    }
}

TEST_F(SharedHeapTest, ALargeBlockBeginsWithAHugePage) {
    auto block = one->heap().alloc(3 << 20, 0);
    ASSERT_TRUE(block);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block->bytes.data()) % SharedHeap::huge_page, 0u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(two->heap().at(block->address)) % SharedHeap::huge_page, 0u);
}

TEST_F(SharedHeapTest, LargeBlocksThatAreFreedLeaveTheirChunk) {
    for (int i = 0; i < 3000; ++i) { // more than there can be chunks
        auto block = one->heap().alloc((1 << 20) + i % 7 * 4096, 0, Backing::sparse);
        ASSERT_TRUE(block) << i << ": " << block.error().text;
        (i % 2 == 0 ? one : two)->heap().free(block->address);
    }
    EXPECT_LE(one->heap().usage().chunks, 10u);
}

TEST_F(SharedHeapTest, FreesWhatAnOwnerHad) {
    std::vector<SharedAddress> kept;
    for (int i = 0; i < 300; ++i) {
        const std::uint32_t owner = i % 3 == 0 ? 5 : i % 3 == 1 ? 6 : no_owner;
        auto block = one->heap().alloc(std::size_t(i) * 700 + 1, owner);
        ASSERT_TRUE(block);
        if (owner != 5) {
            kept.push_back(block->address);
        }
    }
    two->heap().free_all_of(5);
    EXPECT_EQ(one->heap().usage().blocks, kept.size());
    for (SharedAddress address : kept) {
        one->heap().free(address);
    }
    EXPECT_EQ(one->heap().usage().blocks, 0u);
    EXPECT_EQ(one->heap().usage().bytes, 0u);
}

TEST(SharedHeap, PrivateMemoryNeedsNoFile) {
    auto segment = NodeSegment::create_private();
    ASSERT_TRUE(segment);
    for (int round = 0; round < 3; ++round) {
        auto small = (*segment)->heap().alloc(9000, 0);
        auto large = (*segment)->heap().alloc(9 << 20, 0);
        ASSERT_TRUE(small && large);
        EXPECT_TRUE(holds(*small, 0) && holds(*large, 0));
        std::memset(small->bytes.data(), 1, small->bytes.size());
        std::memset(large->bytes.data(), 1, large->bytes.size());
        (*segment)->heap().free(small->address);
        (*segment)->heap().free(large->address);
    }
}

// Allocates and frees at random, fills every block with a number, and looks whether the number remains.
bool churn(SharedHeap& heap, std::uint32_t owner, unsigned seed, int rounds) {
    std::mt19937 random(seed);
    std::vector<SharedBlock> blocks;
    for (int i = 0; i < rounds; ++i) {
        if (blocks.size() < 40 && random() % 2 == 0) {
            const std::size_t bytes = random() % 50 == 0 ? std::size_t(1) << 20 : 1 + random() % 20000;
            auto block = heap.alloc(bytes, owner);
            if (!block || !holds(*block, 0)) {
                std::fprintf(stderr, "%s\n", block ? "a block is not zero" : block.error().text.c_str());
                return false;
            }
            std::memset(block->bytes.data(), int(owner + 1), block->bytes.size());
            blocks.push_back(*block);
        } else if (!blocks.empty()) {
            std::swap(blocks[random() % blocks.size()], blocks.back());
            if (!holds(blocks.back(), int(owner + 1))) {
                std::fprintf(stderr, "a block was overwritten\n");
                return false;
            }
            heap.free(blocks.back().address);
            blocks.pop_back();
        }
    }
    for (const SharedBlock& block : blocks) {
        heap.free(block.address);
    }
    return true;
}

TEST(SharedHeap, ProcessesAllocateAtOnce) {
    const int fd = memfd();
    EXPECT_TRUE(run_processes(4, 60, [&](int rank) {
        auto segment = attach(fd, std::uint32_t(rank));
        return segment != nullptr && churn(segment->heap(), segment->slot(), unsigned(rank), 3000);
    }));
    auto segment = attach(fd, 0);
    EXPECT_EQ(segment->heap().usage().blocks, 0u);
    close(fd);
}

TEST_F(SharedHeapTest, ThreadsAllocateAtOnce) {
    std::vector<std::thread> threads;
    std::array<bool, 4> good{};
    for (unsigned i = 0; i < 4; ++i) {
        threads.emplace_back([&, i] { good[i] = churn(one->heap(), i, i, 1000); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(good, (std::array{true, true, true, true}));
    EXPECT_EQ(one->heap().usage().blocks, 0u);
}

TEST(SharedHeap, ALimitNamesSizeNeedAndRemedy) {
    const int fd = memfd();
    EXPECT_TRUE(run_processes(1, 30, [&](int) {
        auto segment = attach(fd, 0);
        const rlimit limit{4 << 20, 4 << 20};
        setrlimit(RLIMIT_FSIZE, &limit);
        auto refused = segment->heap().alloc(64 << 20, 0);
        auto granted = segment->heap().alloc(64 << 10, 0);
        std::fprintf(stderr, "%s\n", refused ? "not refused" : refused.error().text.c_str());
        return !refused && refused.error().code == Errc::out_of_memory && granted &&
            refused.error().text.find("ulimit -f") != std::string::npos &&
            refused.error().text.find("4MiB") != std::string::npos;
    }));
    EXPECT_TRUE(run_processes(1, 30, [&](int) {
        auto segment = attach(fd, 0);
        const rlimit limit{1 << 30, 1 << 30};
        setrlimit(RLIMIT_AS, &limit);
        auto refused = segment->heap().alloc(std::size_t(4) << 30, 0, Backing::sparse);
        std::fprintf(stderr, "%s\n", refused ? "not refused" : refused.error().text.c_str());
        return !refused && refused.error().code == Errc::out_of_memory &&
            refused.error().text.find("ulimit -v") != std::string::npos &&
            refused.error().text.find("4GiB") != std::string::npos;
    }));
    close(fd);
}

// Failures. A child goes through everything that the allocator does, and is killed at its k-th step, for every k that
// there is. Afterwards the heap is whole, others allocate and free, and release() gets back what the child had.
struct Killer {
    int left;
    static void reached(void* self, const char*) {
        if (--static_cast<Killer*>(self)->left == 0) {
            kill(getpid(), SIGKILL);
        }
    }
};

void everything(NodeSegment& segment) {
    SharedHeap& heap = segment.heap();
    std::vector<SharedAddress> blocks;
    for (std::size_t bytes : {700u, 700u, 9000u, 700u << 10, 40u << 10}) {
        for (Backing backing : {Backing::taken, Backing::sparse}) {
            auto block = heap.alloc(bytes, segment.slot(), backing);
            if (block) {
                blocks.push_back(block->address);
            }
        }
    }
    static_cast<void>(segment.region("of all", 5000, ""));
    static_cast<void>(segment.region("of a slot", 5000, "", segment.slot()));
    for (std::size_t i = 0; i < 400; i += 40) { // until the heap has to grow
        auto block = heap.alloc(i << 10, segment.slot());
        if (block) {
            blocks.push_back(block->address);
        }
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) { // so that runs are merged
        heap.free(blocks[i % 2 == 0 ? i : blocks.size() - 1 - (i - 1) % blocks.size()]);
    }
    static_cast<void>(heap.alloc(200 << 10, segment.slot()));
    segment.remove_region("of a slot", segment.slot());
}

TEST(SharedHeap, AProcessMayFailAtEveryStep) {
    std::set<std::string> seen;
    int step = 1;
    for (bool ended = false; !ended; ++step) {
        const int fd = memfd();
        auto survivor = attach(fd, 0);
        auto kept = survivor->heap().alloc(3000, survivor->slot());
        std::memset(kept->bytes.data(), 5, kept->bytes.size());
        const pid_t child = fork();
        if (child == 0) {
            auto victim = attach(fd, 1);
            Killer killer{step};
            victim->heap().set_probe({Killer::reached, &killer});
            everything(*victim);
            victim->heap().set_probe({});
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        ended = WIFEXITED(status);
        ASSERT_NE(survivor->heap().usage().blocks, ~std::size_t(0)) << "step " << step;
        ASSERT_TRUE(churn(survivor->heap(), 0, unsigned(step), 100)) << "step " << step;
        ASSERT_TRUE(holds(*kept, 5)) << "step " << step;
        auto slot = survivor->slot_of({0, 1});
        ASSERT_TRUE(slot);
        survivor->release(*slot);
        // Left: the block of the survivor, and the region of all with its name, whether or not that was published.
        ASSERT_LE(survivor->heap().usage().blocks, 3u) << "step " << step;
        survivor->remove_region("of all");
        ASSERT_TRUE(holds(*kept, 5)) << "step " << step;
        survivor.reset();
        close(fd);
    }
    EXPECT_GT(step, 80) << "steps were left out";
}

// A process fails in the preparation of a chunk, behind a large block; a large block that begins at the same place is
// zero.
TEST(SharedHeap, ALargeBlockIsZeroAfterADeath) {
    const int fd = memfd();
    auto survivor = attach(fd, 0);
    // A chunk of its own, which ends where a huge page begins: the next chunk begins there, of whatever kind it is.
    auto first = survivor->heap().alloc(SharedHeap::huge_page, survivor->slot());
    ASSERT_TRUE(first);
    const pid_t child = fork();
    if (child == 0) {
        auto victim = attach(fd, 1);
        victim->heap().set_probe({[](void*, const char* step) {
                                      if (std::strcmp(step, "runs written") == 0) {
                                          kill(getpid(), SIGKILL);
                                      }
                                  },
            nullptr});
        static_cast<void>(victim->heap().alloc(5000, victim->slot()));
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    auto second = survivor->heap().alloc(SharedHeap::huge_page, survivor->slot());
    ASSERT_TRUE(second);
    EXPECT_TRUE(holds(*second, 0));
    close(fd);
}

// The same at a random instruction.
TEST(SharedHeap, AProcessMayDieAtAnyTime) {
    const int fd = memfd();
    auto survivor = attach(fd, 0);
    for (unsigned round = 0; round < 150; ++round) {
        const pid_t child = fork();
        if (child == 0) {
            auto victim = attach(fd, 1);
            for (unsigned seed = 0;; ++seed) {
                churn(victim->heap(), victim->slot(), seed, 100);
            }
        }
        std::this_thread::sleep_for(std::chrono::microseconds(1500 + 137 * round % 1900));
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        ASSERT_TRUE(churn(survivor->heap(), 0, round, 50)) << round;
        auto slot = survivor->slot_of({0, 1});
        ASSERT_TRUE(slot);
        survivor->release(*slot);
        ASSERT_EQ(survivor->heap().usage().blocks, 0u) << round;
    }
    close(fd);
}

} // namespace
} // namespace patchbay
