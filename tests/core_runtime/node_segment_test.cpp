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

TEST(NodeSegment, ProcessesThatComeTogetherShareRegionsAndLines) {
    constexpr int ranks = 8;
    int fd = memfd();
    EXPECT_TRUE(run_processes(ranks, 60, [&](int rank) {
        auto segment = NodeSegment::attach_fd(fd, std::uint32_t(rank), ranks);
        if (!segment) {
            std::fprintf(stderr, "%s\n", segment.error().text.c_str());
            return false;
        }
        // Each asks in another order; the offsets must agree all the same.
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
        auto lines = (*segment)->reserve_lines("btl_sm", 2);
        auto more = (*segment)->reserve_lines("coll_sm", 3);
        if (!lines || !more || *lines == *more) {
            return false;
        }
        for (NodeRegion& region : regions) {
            if (!(*segment)->commit(region, std::size_t(rank) * 4096, 4096)) {
                return false;
            }
            region.bytes[std::size_t(rank) * 4096] = std::byte(rank + 1);
        }
        (*segment)->own_control().lines[*lines].bytes[0] = std::byte(rank + 1);
        return (*segment)->own_control().pid == getpid() && (*segment)->all_fenced();
    }));
    auto segment = NodeSegment::attach_fd(fd, 0, ranks);
    ASSERT_TRUE(segment) << segment.error().text;
    auto lines = (*segment)->reserve_lines("btl_sm", 2);
    ASSERT_TRUE(lines);
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
        EXPECT_EQ((*segment)->control(rank).lines[*lines].bytes[0], std::byte(rank + 1));
    }
    EXPECT_LT(memory_taken(fd), 1u << 20) << "untouched pages must not cost memory";
    close(fd);
}

TEST(NodeSegment, TakesAHugeRegionWithoutTakingMemory) {
    int fd = memfd();
    auto segment = NodeSegment::attach_fd(fd, 0, 2);
    ASSERT_TRUE(segment);
    auto region = (*segment)->region("rings", std::size_t(1) << 40, "");
    ASSERT_TRUE(region) << region.error().text;
    region->bytes[(std::size_t(1) << 40) - 1] = std::byte(7);
    EXPECT_LT(memory_taken(fd), 1u << 20);
    close(fd);
}

TEST(NodeSegment, DifferentParametersAreNamed) {
    int fd = memfd();
    auto one = NodeSegment::attach_fd(fd, 0, 2);
    auto two = NodeSegment::attach_fd(fd, 1, 2);
    ASSERT_TRUE(one && two);
    ASSERT_TRUE((*one)->region("btl_sm", 65536, "btl_sm_slots=64"));
    auto wrong = (*two)->region("btl_sm", 131072, "btl_sm_slots=128");
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code, Errc::invalid);
    EXPECT_NE(wrong.error().text.find("btl_sm_slots=64"), std::string::npos) << wrong.error().text;
    EXPECT_NE(wrong.error().text.find("btl_sm_slots=128"), std::string::npos);
    EXPECT_FALSE((*two)->region("btl_sm", 65536, "btl_sm_slots=32"));
    EXPECT_TRUE((*two)->region("btl_sm", 65536, "btl_sm_slots=64"));
    auto other_size = NodeSegment::attach_fd(fd, 1, 3);
    ASSERT_FALSE(other_size);
    EXPECT_EQ(other_size.error().code, Errc::invalid);
    close(fd);
}

TEST(NodeSegment, RunsOutOfLinesWithAnError) {
    auto segment = NodeSegment::create_private();
    ASSERT_TRUE(segment);
    EXPECT_TRUE((*segment)->reserve_lines("a", RankControl::line_count));
    auto none = (*segment)->reserve_lines("b", 1);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, Errc::out_of_memory);
}

TEST(NodeSegment, KeepsItsContentsAndLeavesNothingInTheProcess) {
    int fd = memfd();
    int descriptors = open_descriptors();
    for (int cycle = 0; cycle < 1000; ++cycle) {
        auto segment = NodeSegment::attach_fd(fd, 0, 2);
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
        auto segment = NodeSegment::attach_fd(fd, 0, 2);
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
        auto segment = fd ? NodeSegment::attach_fd(*fd, 0, 2) : Result<std::unique_ptr<NodeSegment>>(fd.error());
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
