// SPDX-License-Identifier: BSD-3-Clause
// Random nested types against their typemaps: bounds, packing in pieces, seeking, blocks, counting, conversion.
#include "object/convertor.h"
#include "object/external32.h"
#include "tests/datatype/random_type.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

namespace patchbay::test {
namespace {

// Memory that holds `count` elements of a sample, and what packing them gives.
struct Fixture {
    Fixture(const Sample& sample, MPI_Count count)
        : offsets(sample.map.byte_offsets(count)) {
        MPI_Aint low = 0;
        MPI_Aint high = 0;
        for (MPI_Aint offset : offsets) {
            low = std::min(low, offset);
            high = std::max(high, offset + 1);
        }
        memory.resize(static_cast<std::size_t>(high - low));
        base = -low;
        for (std::size_t i = 0; i < memory.size(); ++i) {
            memory[i] = static_cast<unsigned char>(i * 131 + i / 251);
        }
        for (MPI_Aint offset : offsets) {
            packed.push_back(memory[static_cast<std::size_t>(base + offset)]);
        }
    }
    unsigned char* buffer() { return memory.data() + base; }

    std::vector<MPI_Aint> offsets;
    std::vector<unsigned char> memory;
    std::vector<unsigned char> packed;
    MPI_Aint base = 0;
};

class RandomTypes : public testing::TestWithParam<int> {
protected:
    TypeMaker maker{static_cast<unsigned>(GetParam())};
    Sample sample = maker.make(static_cast<int>(maker.number(0, 5)));
    MPI_Count count = maker.number(0, sample.map.entries().size() < 50 ? 80 : 4);
    Fixture data{sample, count};
};

TEST_P(RandomTypes, BoundsFollowFromTheTypemap) {
    const Datatype& type = *sample.type;
    EXPECT_EQ(type.size, sample.map.size());
    EXPECT_EQ(type.lower_bound, sample.map.lower_bound());
    EXPECT_EQ(type.extent, sample.map.extent());
    EXPECT_EQ(type.true_lower_bound, sample.map.true_lower_bound());
    EXPECT_EQ(type.true_extent, sample.map.true_upper_bound() - sample.map.true_lower_bound());
    EXPECT_EQ(type.dense, sample.map.dense());
    EXPECT_EQ(type.layout().size(), static_cast<std::size_t>(type.size));
}

TEST_P(RandomTypes, PacksInPiecesOfAnySize) {
    Convertor convertor(*sample.type, count, data.buffer());
    ASSERT_EQ(convertor.total(), data.packed.size());
    std::vector<unsigned char> out(data.packed.size() + 64, 0xee);
    std::size_t done = 0;
    while (convertor.remaining() > 0) {
        const auto piece = static_cast<std::size_t>(maker.number(1, 40));
        const std::size_t got = convertor.pack(out.data() + done, piece);
        ASSERT_EQ(got, std::min(piece, data.packed.size() - done));
        done += got;
    }
    EXPECT_EQ(convertor.pack(out.data() + done, 8), 0u);
    ASSERT_EQ(done, data.packed.size());
    EXPECT_TRUE(std::equal(data.packed.begin(), data.packed.end(), out.begin()));
    EXPECT_TRUE(std::all_of(
        out.begin() + static_cast<std::ptrdiff_t>(done), out.end(), [](unsigned char c) { return c == 0xee; }));
}

TEST_P(RandomTypes, SeeksToAnyPosition) {
    Convertor convertor(*sample.type, count, data.buffer());
    std::vector<unsigned char> out(100);
    for (int i = 0; i < 30; ++i) {
        const auto position = static_cast<std::size_t>(maker.number(0, static_cast<MPI_Count>(data.packed.size())));
        convertor.seek(position);
        const std::size_t got = convertor.pack(out.data(), static_cast<std::size_t>(maker.number(0, 100)));
        ASSERT_EQ(convertor.position(), position + got);
        ASSERT_TRUE(std::equal(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(got),
            data.packed.begin() + static_cast<std::ptrdiff_t>(position)));
    }
}

TEST_P(RandomTypes, UnpacksOnlyWhatBelongsToTheType) {
    std::vector<unsigned char> expected(data.memory.size(), 0x55);
    for (std::size_t i = 0; i < data.offsets.size(); ++i) {
        expected[static_cast<std::size_t>(data.base + data.offsets[i])] = data.packed[i];
    }
    std::vector<unsigned char> memory(data.memory.size(), 0x55);
    Convertor convertor(*sample.type, count, memory.data() + data.base);
    std::size_t done = 0;
    while (convertor.remaining() > 0) {
        done += convertor.unpack(data.packed.data() + done, static_cast<std::size_t>(maker.number(1, 60)));
    }
    EXPECT_EQ(memory, expected);
}

TEST_P(RandomTypes, ListsItsBlocks) {
    Convertor convertor(*sample.type, count, data.buffer());
    std::vector<unsigned char> out;
    while (convertor.remaining() > 0) {
        iovec vectors[3];
        const auto limit = static_cast<std::size_t>(maker.number(1, 90));
        const auto capacity = static_cast<std::size_t>(maker.number(1, 3));
        const std::size_t before = convertor.position();
        const std::size_t used = convertor.next_blocks(std::span(vectors, capacity), limit);
        ASSERT_GE(used, 1u);
        ASSERT_LE(used, capacity);
        std::size_t bytes = 0;
        for (const iovec& v : std::span(vectors, used)) {
            const auto* from = static_cast<const unsigned char*>(v.iov_base);
            out.insert(out.end(), from, from + v.iov_len);
            bytes += v.iov_len;
        }
        ASSERT_LE(bytes, limit);
        ASSERT_EQ(convertor.position(), before + bytes);
        // A list that stops early stops because it is full.
        ASSERT_TRUE(used == capacity || bytes == limit || convertor.remaining() == 0);
    }
    EXPECT_EQ(out, data.packed);
}

TEST_P(RandomTypes, CountsValuesOfBasicTypes) {
    const Datatype& type = *sample.type;
    std::vector<MPI_Count> ends{0}; // the byte at which each value ends
    for (MPI_Count i = 0; i < count; ++i) {
        for (const Typemap::Entry& e : sample.map.entries()) {
            ends.push_back(ends.back() + basic_type(e.basic).size);
        }
    }
    for (std::size_t n = 0; n < ends.size(); ++n) {
        ASSERT_EQ(type.elements_in(static_cast<std::uint64_t>(ends[n])), static_cast<MPI_Count>(n));
        ASSERT_EQ(type.bytes_of_elements(static_cast<MPI_Count>(n)), static_cast<std::uint64_t>(ends[n]));
        if (n > 0 && ends[n] - ends[n - 1] > 1) {
            ASSERT_EQ(type.elements_in(static_cast<std::uint64_t>(ends[n] - 1)), MPI_UNDEFINED);
        }
    }
}

// Values that external32 keeps as they are, apart from the order of their bytes.
bool only_reversed(BasicIndex basic) {
    const BasicType& type = basic_type(basic);
    return type.machine != Machine::f80 && type.machine != Machine::c80 && type.size == type.external_size;
}

TEST_P(RandomTypes, ConvertsToExternal32AndBack) {
    const auto& entries = sample.map.entries();
    std::uint64_t size = 0;
    for (const Typemap::Entry& e : entries) {
        size += basic_type(e.basic).external_size;
    }
    const Datatype& type = *sample.type;
    ASSERT_EQ(external32_size(type), size);
    if (!std::all_of(entries.begin(), entries.end(), [](const auto& e) { return only_reversed(e.basic); })) {
        return; // known values of those types: external32_test
    }
    std::vector<unsigned char> expected;
    std::size_t at = 0;
    for (MPI_Count i = 0; i < count; ++i) {
        for (const Typemap::Entry& e : entries) {
            const BasicType& basic = basic_type(e.basic);
            const bool complex = basic.group == TypeGroup::complex;
            const std::size_t width = basic.machine == Machine::bytes ? 1 : complex ? basic.size / 2u : basic.size;
            for (std::size_t part = 0; part < basic.size / width; ++part, at += width) {
                expected.insert(expected.end(), data.packed.rend() - static_cast<std::ptrdiff_t>(at + width),
                    data.packed.rend() - static_cast<std::ptrdiff_t>(at));
            }
        }
    }
    std::vector<unsigned char> stream(expected.size());
    ASSERT_EQ(external32_pack(data.buffer(), count, type, stream.data()), MPI_SUCCESS);
    EXPECT_EQ(stream, expected);
    std::vector<unsigned char> memory(data.memory.size());
    ASSERT_EQ(external32_unpack(stream.data(), memory.data() + data.base, count, type), MPI_SUCCESS);
    for (std::size_t i = 0; i < data.offsets.size(); ++i) {
        // A byte that lies in the type twice has the value of the last.
        const auto place = static_cast<std::size_t>(data.base + data.offsets[i]);
        ASSERT_EQ(memory[place], data.memory[place]);
    }
}

TEST_P(RandomTypes, ClonesAreTheSameType) {
    Ref<Datatype> copy;
    ASSERT_EQ(sample.type->clone(&copy), MPI_SUCCESS);
    EXPECT_EQ(copy->size, sample.type->size);
    EXPECT_EQ(copy->extent, sample.type->extent);
    EXPECT_EQ(copy->committed, sample.type->committed);
    EXPECT_EQ(copy->dense, sample.type->dense);
    Convertor convertor(*copy, count, data.buffer());
    std::vector<unsigned char> out(data.packed.size());
    convertor.pack(out.data(), out.size());
    EXPECT_EQ(out, data.packed);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTypes, testing::Range(0, 400));

} // namespace
} // namespace patchbay::test
