// SPDX-License-Identifier: BSD-3-Clause
// A chunk of the shared heap that the kernel does not map once.
#include "core/memory/node_segment.h"
#include "core/memory/shared_file.h"

#include <cerrno>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace {
bool next_fails = false; // of the mappings of shared memory
} // namespace

// In the place of the C library's.
extern "C" void* mmap(void* address, std::size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
    if ((flags & MAP_SHARED) != 0 && std::exchange(next_fails, false)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return reinterpret_cast<void*>(syscall(SYS_mmap, address, bytes, protection, flags, fd, offset));
}

namespace patchbay {
namespace {

TEST(HeapMapping, AnAllocationReportsItAndTheNextOneSucceeds) {
    Result<int> fd = shared_file::make_memfd("heap-mapping-test");
    ASSERT_TRUE(fd);
    auto first = NodeSegment::attach_fd(*fd, {0, 0}, 2);
    auto second = NodeSegment::attach_fd(*fd, {0, 1}, 2);
    ASSERT_TRUE(first && second);
    // The other process makes a second chunk, which this one has not mapped yet, and the first one has no room.
    constexpr std::size_t bytes = 400'000;
    for (int block = 0; block < 3; ++block) {
        ASSERT_TRUE((*first)->heap().alloc(bytes, (*first)->slot()));
    }
    SharedHeap& heap = (*second)->heap();
    next_fails = true;
    const auto refused = heap.alloc(bytes, (*second)->slot());
    EXPECT_FALSE(next_fails) << "it has mapped nothing";
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::out_of_memory);
    EXPECT_NE(refused.error().text.find("cannot map"), std::string::npos) << refused.error().text;
    EXPECT_TRUE(heap.alloc(bytes, (*second)->slot()));
    close(*fd);
}

} // namespace
} // namespace patchbay
