// SPDX-License-Identifier: BSD-3-Clause
// Packing takes no longer where the stream begins 1 to 63 bytes behind the data, in their pages (core/base/copy.h).
#include "object/convertor.h"
#include "object/handle.h"
#include "object/typed_copy.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <gtest/gtest.h>
#include <memory>

namespace patchbay {
namespace {

constexpr std::size_t bytes = 32 << 10; // `rep movsb` of the C library, 0.4 us or 11 us
constexpr std::size_t page = 4096;

struct Free {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
};
using Pages = std::unique_ptr<std::byte, Free>;

Pages make_pages() {
    auto* memory = static_cast<std::byte*>(std::aligned_alloc(page, bytes + page));
    std::fill_n(memory, bytes + page, std::byte(7));
    return Pages(memory);
}

template <class Copy>
double least_microseconds(Copy copy) {
    double least = 1e9;
    for (int i = 0; i < 200; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        copy();
        const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
        least = std::min(least, took.count());
    }
    return least;
}

// copy(to, from) for a target at this distance behind the source.
template <class Copy>
void expect_no_longer_where_aliased(Copy copy) {
    const Pages from = make_pages();
    const Pages to = make_pages();
    const double apart = least_microseconds([&] { copy(to.get() + 256, from.get()); });
    for (const std::size_t distance : {8, 16, 48}) {
        const double aliased = least_microseconds([&] { copy(to.get() + distance, from.get()); });
        EXPECT_LT(aliased, 5 * apart + 1) << distance << " bytes behind";
    }
}

TEST(CopyTime, Pack) {
    expect_no_longer_where_aliased([](std::byte* to, std::byte* from) {
        Convertor convertor(*to_object<Datatype>(MPI_BYTE), MPI_Count(bytes), from);
        EXPECT_EQ(convertor.pack(to, bytes), bytes);
    });
}

TEST(CopyTime, Unpack) {
    expect_no_longer_where_aliased([](std::byte* to, std::byte* from) {
        Convertor convertor(*to_object<Datatype>(MPI_BYTE), MPI_Count(bytes), to);
        EXPECT_EQ(convertor.unpack(from, bytes), bytes);
    });
}

TEST(CopyTime, CopyWithinAProcess) {
    const Datatype& type = *to_object<Datatype>(MPI_BYTE);
    expect_no_longer_where_aliased([&type](std::byte* to, std::byte* from) {
        EXPECT_EQ(typed_copy(from, MPI_Count(bytes), type, to, MPI_Count(bytes), type), MPI_SUCCESS);
    });
}

} // namespace
} // namespace patchbay
