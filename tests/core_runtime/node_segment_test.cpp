// SPDX-License-Identifier: BSD-3-Clause
#include "core/memory/node_segment.h"
#include "core/memory/shared_file.h"
#include "tests/core_runtime/processes.h"

#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

namespace patchbay {
namespace {
using test::run_processes;

int memfd() {
    Result<int> fd = shared_file::make_memfd("node-segment-test");
    EXPECT_TRUE(fd);
    return *fd;
}

std::uint64_t memory_taken(int fd) {
    struct stat file {};
    fstat(fd, &file);
    return std::uint64_t(file.st_blocks) * 512;
}

int open_descriptors() {
    int count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        ++count;
    }
    return count;
}

int mappings() {
    std::ifstream maps("/proc/self/maps");
    std::string line;
    int count = 0;
    while (std::getline(maps, line)) {
        count += line.find("node-segment-test") != line.npos;
    }
    return count;
}

using Attached = Result<std::unique_ptr<NodeSegment>>;

Attached attach(int fd, std::uint32_t rank, std::uint32_t expected = 2) {
    return NodeSegment::attach_fd(fd, {0, rank}, expected);
}

// More than one table of slots holds.
TEST(NodeSegment, ProcessesThatComeTogetherShareRegionsAndHaveASlotEach) {
    constexpr int ranks = 80;
    int fd = memfd();
    EXPECT_TRUE(run_processes(ranks, 60, [&](int rank) {
        auto segment = attach(fd, std::uint32_t(rank), ranks);
        if (!segment) {
            std::fprintf(stderr, "%s\n", segment.error().text.c_str());
            return false;
        }
        // Each asks in another order; the places must agree all the same.
        std::string names[] = {"btl_sm", "coll_sm", "osc_sm"};
        NodeRegion regions[3];
        for (int i = 0; i < 3; ++i) {
            int which = (i + rank) % 3;
            auto region = (*segment)->region(names[which], std::size_t(1 + which) << 20, "");
            if (!region) {
                return false;
            }
            regions[which] = *region;
        }
        for (NodeRegion& region : regions) {
            if (!(*segment)->commit(region, std::size_t(rank) * 4096, 4096)) {
                return false;
            }
            region.bytes[std::size_t(rank) * 4096] = std::byte(rank + 1);
        }
        // The region of a slot is made by the process or by its peers.
        for (std::uint32_t of : {std::uint32_t(rank), std::uint32_t(rank + 1) % ranks}) {
            auto slot = (*segment)->slot_of({0, of});
            auto own = slot ? (*segment)->region("port", 4096, "", *slot) : Result<NodeRegion>(slot.error());
            if (!own || !(*segment)->commit(*own, 0, 4096)) {
                return false;
            }
            own->bytes[of == std::uint32_t(rank) ? 0 : 1] = std::byte(of + 1);
        }
        return (*segment)->own_control().pid == getpid() && (*segment)->all_fenced();
    }));
    auto segment = attach(fd, 0, ranks);
    ASSERT_TRUE(segment) << segment.error().text;
    EXPECT_EQ((*segment)->slots(), unsigned(ranks));
    EXPECT_EQ((*segment)->arrived(), unsigned(ranks));
    for (int which = 0; which < 3; ++which) {
        auto region = (*segment)->region(which == 0 ? "btl_sm"
                : which == 1                        ? "coll_sm"
                                                    : "osc_sm",
            std::size_t(1 + which) << 20, "");
        ASSERT_TRUE(region);
        EXPECT_EQ(region->bytes.size(), std::size_t(1 + which) << 20);
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            EXPECT_EQ(region->bytes[rank * 4096], std::byte(rank + 1));
        }
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        auto slot = (*segment)->slot_of({0, rank});
        ASSERT_TRUE(slot);
        auto port = (*segment)->region("port", 4096, "", *slot);
        ASSERT_TRUE(port);
        EXPECT_EQ(port->bytes[0], std::byte(rank + 1));
        EXPECT_EQ(port->bytes[1], std::byte(rank + 1));
    }
    EXPECT_LT(memory_taken(fd), 3u << 20) << "untouched pages must not cost memory";
    close(fd);
}

// The thread sanitizer leaves a program little more than 1 TiB of addresses, and not in one piece every time.
#ifdef __SANITIZE_THREAD__
constexpr std::size_t huge = std::size_t(1) << 36;
#else
constexpr std::size_t huge = std::size_t(1) << 40;
#endif

TEST(NodeSegment, TakesAHugeRegionWithoutTakingMemory) {
    int fd = memfd();
    auto segment = attach(fd, 0);
    ASSERT_TRUE(segment);
    auto region = (*segment)->region("rings", huge, "");
    ASSERT_TRUE(region) << region.error().text;
    region->bytes[huge - 1] = std::byte(7);
    EXPECT_LT(memory_taken(fd), 1u << 20);
    close(fd);
}

TEST(NodeSegment, DifferentParametersAreNamed) {
    int fd = memfd();
    auto one = attach(fd, 0);
    auto two = attach(fd, 1);
    ASSERT_TRUE(one && two);
    ASSERT_TRUE((*one)->region("btl_sm", 65536, "btl_sm_slots=64"));
    auto wrong = (*two)->region("btl_sm", 131072, "btl_sm_slots=128");
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code, Errc::invalid);
    EXPECT_NE(wrong.error().text.find("btl_sm_slots=64"), std::string::npos) << wrong.error().text;
    EXPECT_NE(wrong.error().text.find("btl_sm_slots=128"), std::string::npos);
    EXPECT_FALSE((*two)->region("btl_sm", 65536, "btl_sm_slots=32"));
    EXPECT_TRUE((*two)->region("btl_sm", 65536, "btl_sm_slots=64"));
    close(fd);
}

// A job grows, a second job comes, and a process that ended leaves its slot to another one.
TEST(NodeSegment, SlotsFollowTheProcessesThatComeAndGo) {
    int fd = memfd();
    auto first = attach(fd, 0);
    ASSERT_TRUE(first);
    auto late = (*first)->slot_of({0, 7}); // before that process has attached
    ASSERT_TRUE(late);
    EXPECT_EQ((*first)->control(*late).pid, 0);
    auto seventh = attach(fd, 7);
    auto other_job = NodeSegment::attach_fd(fd, {1, 7}, 1);
    ASSERT_TRUE(seventh && other_job);
    EXPECT_EQ((*seventh)->slot(), *late);
    EXPECT_NE((*other_job)->slot(), *late);
    EXPECT_EQ((*first)->id(), (*other_job)->id());
    auto port = (*seventh)->region("port", 100, "", *late);
    auto block = (*seventh)->heap().alloc(5000, *late);
    auto common = (*seventh)->heap().alloc(5000, SharedHeap::no_owner);
    ASSERT_TRUE(port && block && common);
    const std::size_t blocks = (*first)->heap().usage().blocks;
    seventh = Attached(Error{Errc::system, ""}); // detached: may attach again, so that all of it remains
    EXPECT_EQ((*first)->control(*late).attached, 0u);
    EXPECT_EQ((*first)->heap().usage().blocks, blocks);
    (*first)->release(*late);
    EXPECT_EQ((*first)->heap().usage().blocks, blocks - 3) << "the region, its name and the block are freed";
    auto eighth = attach(fd, 8);
    ASSERT_TRUE(eighth);
    EXPECT_EQ((*eighth)->slot(), *late);
    auto fresh = (*eighth)->region("port", 100, "other settings", *late);
    ASSERT_TRUE(fresh);
    (*eighth)->remove_region("port", *late);
    EXPECT_EQ((*first)->heap().usage().blocks, blocks - 3);
    EXPECT_EQ((*first)->slots(), 3u);
    close(fd);
}

// The process that begins to write the header fails at that: the next one writes it.
TEST(NodeSegment, AHeaderThatWasBegunIsWrittenByTheNextProcess) {
    int fd = memfd();
    ASSERT_TRUE(shared_file::allocate(fd, 0, 4096));
    const char garbage[64] = "what a process wrote before it failed";
    ASSERT_EQ(pwrite(fd, garbage, sizeof garbage, 16), ssize_t(sizeof garbage)); // behind the word that says "complete"
    auto segment = attach(fd, 0);
    ASSERT_TRUE(segment) << segment.error().text;
    EXPECT_TRUE((*segment)->region("x", 1, ""));
    close(fd);
}

// A process fails while it makes what all need: the next one makes it.
TEST(NodeSegment, WhatWasBegunOnceIsMadeByTheNextProcess) {
    int fd = memfd();
    auto segment = attach(fd, 0);
    ASSERT_TRUE(segment);
    auto region = (*segment)->region("once", 4096, "");
    ASSERT_TRUE(region && (*segment)->commit(*region, 0, 4096));
    auto& done = *reinterpret_cast<std::atomic<std::uint32_t>*>(region->bytes.data());
    EXPECT_FALSE(run_processes(1, 30, [&](int) {
        auto victim = attach(fd, 1);
        auto same = (*victim)->region("once", 4096, "");
        auto& there = *reinterpret_cast<std::atomic<std::uint32_t>*>(same->bytes.data());
        static_cast<void>((*victim)->once(there, [] {
            kill(getpid(), SIGKILL);
            return Status();
        }));
        return true;
    }));
    int calls = 0;
    for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE((*segment)->once(done, [&] {
            ++calls;
            return Status();
        }));
    }
    EXPECT_EQ(calls, 1);
    close(fd);
}

TEST(NodeSegment, KeepsItsContentsAndLeavesNothingInTheProcess) {
    int fd = memfd();
    int descriptors = open_descriptors();
    for (int cycle = 0; cycle < 1000; ++cycle) {
        auto segment = attach(fd, 0);
        ASSERT_TRUE(segment);
        auto region = (*segment)->region("counter", 4096, "");
        ASSERT_TRUE(region);
        ASSERT_EQ(int(region->bytes[0]) + 256 * int(region->bytes[1]), cycle);
        region->bytes[0] = std::byte((cycle + 1) % 256);
        region->bytes[1] = std::byte((cycle + 1) / 256);
    }
    EXPECT_EQ(open_descriptors(), descriptors);
    EXPECT_EQ(mappings(), 0);
    close(fd);
}

TEST(NodeSegment, PrivateMemoryNeedsNoFile) {
    int descriptors = open_descriptors();
    auto segment = NodeSegment::create_private();
    ASSERT_TRUE(segment);
    auto region = (*segment)->region("btl_sm", 1 << 20, "");
    ASSERT_TRUE(region);
    EXPECT_TRUE((*segment)->commit(*region, 0, 1 << 20));
    std::memset(region->bytes.data(), 1, region->bytes.size());
    EXPECT_EQ(open_descriptors(), descriptors);
}

TEST(NodeSegment, AFileSizeLimitIsAnErrorAndNotASignal) {
    int fd = memfd();
    EXPECT_TRUE(run_processes(1, 30, [&](int) {
        rlimit limit{1 << 20, 1 << 20};
        setrlimit(RLIMIT_FSIZE, &limit);
        auto segment = attach(fd, 0);
        if (!segment) {
            return false;
        }
        auto region = (*segment)->region("rings", 64 << 20, "");
        if (region || region.error().code != Errc::out_of_memory) {
            return false;
        }
        std::string text = region.error().text;
        return text.find("ulimit -f") != text.npos && text.find("1MiB") != text.npos;
    }));
    close(fd);
}

TEST(SharedFile, OnlyAbandonedFilesAreRemoved) {
    char name[] = "/tmp/patchbay-test-XXXXXX";
    const std::string directory = mkdtemp(name);
    const auto path_of = [&](const char* file) { return directory + "/" + file; };
    const auto exists = [&](const char* file) { return access(path_of(file).c_str(), F_OK) == 0; };
    Result<int> made = shared_file::make_named(path_of("x.made"));
    Result<int> others = shared_file::make_named(path_of("x.opened"));
    Result<int> opened = shared_file::open_existing(path_of("x.opened"));
    ASSERT_TRUE(made && others && opened);
    close(*others);
    for (const char* file : {"x.left", "y.left"}) {
        Result<int> left = shared_file::make_named(path_of(file));
        ASSERT_TRUE(left);
        close(*left);
    }
    shared_file::remove_abandoned(directory, "x.", std::chrono::seconds(600));
    EXPECT_TRUE(exists("x.left")) << "it is new";
    shared_file::remove_abandoned(directory, "x.", std::chrono::seconds(0));
    EXPECT_FALSE(exists("x.left"));
    EXPECT_TRUE(exists("x.made") && exists("x.opened") && exists("y.left"));
    close(*made);
    close(*opened);
    shared_file::remove_abandoned(directory, "", std::chrono::seconds(0));
    EXPECT_EQ(rmdir(directory.c_str()), 0) << "nothing is left";
}

// A file system of 256 KiB, visible to this process only.
bool mount_tiny(const std::string& directory) {
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
        mount("tmpfs", directory.c_str(), "tmpfs", 0, "size=256k") == 0;
}

TEST(NodeSegment, SharedMemoryThatIsTooSmallIsAnErrorAndNotSigbus) {
    std::string directory = ::testing::TempDir() + "/patchbay_tiny_" + std::to_string(getpid());
    std::filesystem::create_directory(directory);
    auto child = [&](int) {
        if (!mount_tiny(directory)) {
            std::perror("cannot mount a small file system");
            return false;
        }
        Result<int> fd = shared_file::make_named(directory + "/segment");
        auto segment = fd ? attach(*fd, 0) : Attached(fd.error());
        if (!segment) {
            return false;
        }
        auto region = (*segment)->region("btl_sm", 1 << 20, "btl_sm_slots=64"); // sparse: fits so far
        if (!region || !(*segment)->commit(*region, 0, 64 << 10)) {
            return false;
        }
        Status refused = (*segment)->commit(*region, 64 << 10, 512 << 10);
        if (refused || refused.error().code != Errc::out_of_memory) {
            return false;
        }
        std::string text = refused.error().text;
        std::fprintf(stderr, "%s\n", text.c_str());
        for (const char* part : {"512KiB", "256KiB", "shm_directory", "shm-size", "btl_sm_slots=64"}) {
            if (text.find(part) == text.npos) {
                return false;
            }
        }
        std::memset(region->bytes.data(), 1, 64 << 10); // what was committed is there
        return true;
    };
    if (geteuid() != 0) {
        std::filesystem::remove(directory);
        GTEST_SKIP() << "needs the right to mount a small file system";
    }
    EXPECT_TRUE(run_processes(1, 30, child));
    std::filesystem::remove(directory);
}

} // namespace
} // namespace patchbay
