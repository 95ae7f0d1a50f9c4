// SPDX-License-Identifier: BSD-3-Clause
// Long messages between threads, which receiver and sender copy together, with every way to write of the sender.
#include "mpi/threads/shared_copy.h"

#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace patchbay::threads {
namespace {

// The receiver copies to `offset` bytes behind the start of its memory while the sender, in a loop, takes pieces.
void expect_copy(std::size_t bytes, std::size_t offset, StoreWay* way) {
    std::vector<std::byte> from(bytes);
    for (std::size_t i = 0; i < bytes; ++i) {
        from[i] = std::byte(i * 31 + i / 256);
    }
    std::vector<std::byte> to(offset + bytes + 64, std::byte(99));
    SharedCopy copy;
    copy.reset(way);
    std::atomic<bool> done{false};
    std::thread sender([&] {
        while (!done.load(std::memory_order_acquire)) {
            copy.help();
            std::this_thread::yield();
        }
    });
    copy.run(to.data() + offset, from.data(), bytes);
    EXPECT_TRUE(std::equal(from.begin(), from.end(), to.data() + offset)) << bytes << " bytes at " << offset;
    EXPECT_TRUE(std::all_of(to.data(), to.data() + offset, [](std::byte one) { return one == std::byte(99); }));
    EXPECT_TRUE(std::all_of(
        to.data() + offset + bytes, to.data() + to.size(), [](std::byte one) { return one == std::byte(99); }));
    done.store(true, std::memory_order_release);
    sender.join();
}

TEST(SharedCopy, CopiesAllBytesAndNoOthersInEachWay) {
    for (const std::optional<Stores> stores :
        {std::optional<Stores>(), {Stores::automatic}, {Stores::cached}, {Stores::uncached}}) {
        std::optional<StoreWay> way;
        if (stores) {
            way.emplace(*stores, SharedCopy::most_ns_per_kib);
        }
        for (const std::size_t bytes :
            {SharedCopy::least, SharedCopy::least + 1, 5 * SharedCopy::piece + 1777, std::size_t(1) << 20}) {
            for (const std::size_t offset : {0, 1, 48, 100}) {
                expect_copy(bytes, offset, way ? &*way : nullptr);
            }
        }
    }
}

} // namespace
} // namespace patchbay::threads
