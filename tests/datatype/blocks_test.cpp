// SPDX-License-Identifier: BSD-3-Clause
// Blocks of every size in every arrangement that has a loop of its own: rows, rows of rows, tables of equal and of
// various blocks, structs. Each is packed and unpacked at once and in pieces that end anywhere, and compared with a
// list of its bytes.
#include "object/convertor.h"
#include "object/layout.h"
#include "tests/datatype/recipes.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <sys/mman.h>

namespace patchbay::test {
namespace {

using Body = Layout::Body;

// A type, and the blocks of one element in the order of its data.
struct Known {
    Ref<Datatype> type;
    std::vector<std::pair<MPI_Aint, std::size_t>> blocks; // displacement, bytes
};

Body body_of(const Known& known) {
    const Layout& layout = known.type->layout();
    return layout.nodes()[layout.first_root()].body;
}

Known row(MPI_Count size, MPI_Count count, MPI_Count stride) {
    Known made{create(MPI_COMBINER_HVECTOR, {count, size, stride}, {named(MPI_CHAR)}), {}};
    for (MPI_Count i = 0; i < count; ++i) {
        made.blocks.emplace_back(i * stride, size);
    }
    return made;
}

Known rows(MPI_Count size, MPI_Count count) {
    const Known inner = row(size, count, 2 * size + 1);
    const MPI_Count stride = count * (3 * size + 5);
    Known made{create(MPI_COMBINER_HVECTOR, {4, 1, stride}, {inner.type}), {}};
    for (MPI_Count i = 0; i < 4; ++i) {
        for (const auto& [displacement, bytes] : inner.blocks) {
            made.blocks.emplace_back(i * stride + displacement, bytes);
        }
    }
    return made;
}

// Blocks in random order with gaps between them.
Known list(std::vector<MPI_Count> sizes, std::mt19937& random) {
    std::vector<MPI_Count> places;
    MPI_Count end = -300;
    for (MPI_Count size : sizes) {
        places.push_back(end);
        end += size + 1 + MPI_Count(random() % 20);
    }
    std::vector<std::size_t> order(sizes.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        order[i] = i;
    }
    std::shuffle(order.begin(), order.end(), random);
    Known made;
    std::vector<MPI_Count> counts{MPI_Count(sizes.size())};
    for (std::size_t i : order) {
        counts.push_back(sizes[i]);
        made.blocks.emplace_back(places[i], sizes[i]);
    }
    for (std::size_t i : order) {
        counts.push_back(places[i]);
    }
    made.type = create(MPI_COMBINER_HINDEXED, counts, {named(MPI_CHAR)});
    return made;
}

// A block, two small ones with equal gaps, and a hole at the end.
Known structure(MPI_Count size) {
    const auto pair = create(MPI_COMBINER_HVECTOR, {2, 1, 6}, {named(MPI_INT)});
    const auto members = create(MPI_COMBINER_STRUCT, {2, size, 1, 0, size + 3}, {named(MPI_CHAR), pair});
    return {create(MPI_COMBINER_RESIZED, {0, size + 20}, {members}), {{0, size}, {size + 3, 4}, {size + 9, 4}}};
}

// Memory with `count` elements of a known type at buffer(), and the list of the bytes of their data.
class Memory {
public:
    Memory(const Known& known, MPI_Count count)
        : _known(known),
          _count(count) {
        MPI_Aint low = 0;
        MPI_Aint high = 0;
        for (MPI_Count i = 0; i < count; ++i) {
            for (const auto& [displacement, bytes] : known.blocks) {
                for (std::size_t b = 0; b < bytes; ++b) {
                    _places.push_back(i * known.type->extent + displacement + MPI_Aint(b));
                }
            }
        }
        for (MPI_Aint place : _places) {
            low = std::min(low, place);
            high = std::max(high, place + 1);
        }
        _base = -low;
        _bytes.resize(std::size_t(high - low));
        for (std::size_t i = 0; i < _bytes.size(); ++i) {
            _bytes[i] = static_cast<unsigned char>(i * 37 + i / 253);
        }
        for (MPI_Aint place : _places) {
            _packed.push_back(_bytes[std::size_t(_base + place)]);
        }
    }

    // In pieces of at most that many bytes.
    void check_pack(std::size_t piece) {
        std::vector<unsigned char> out(_packed.size() + 80, 0xee);
        Convertor convertor(*_known.type, _count, _bytes.data() + _base);
        ASSERT_EQ(convertor.total(), _packed.size());
        for (std::size_t done = 0; done < _packed.size();) {
            done += convertor.pack(out.data() + done, piece);
        }
        ASSERT_TRUE(std::equal(_packed.begin(), _packed.end(), out.begin()));
        ASSERT_TRUE(std::all_of(out.end() - 80, out.end(), [](unsigned char c) { return c == 0xee; }));
    }

    void check_unpack(std::size_t piece) {
        std::vector<unsigned char> expected(_bytes.size(), 0x55);
        for (std::size_t i = 0; i < _places.size(); ++i) {
            expected[std::size_t(_base + _places[i])] = _packed[i];
        }
        std::vector<unsigned char> memory(_bytes.size(), 0x55);
        Convertor convertor(*_known.type, _count, memory.data() + _base);
        for (std::size_t done = 0; done < _packed.size();) {
            done += convertor.unpack(_packed.data() + done, std::min(piece, _packed.size() - done));
        }
        ASSERT_EQ(memory, expected);
    }

    void check_blocks() {
        Convertor convertor(*_known.type, _count, _bytes.data() + _base);
        std::vector<unsigned char> out;
        while (convertor.remaining() > 0) {
            iovec vectors[5];
            const std::size_t used = convertor.next_blocks(vectors, 777);
            ASSERT_GE(used, 1u);
            for (const iovec& v : std::span(vectors, used)) {
                const auto* from = static_cast<const unsigned char*>(v.iov_base);
                out.insert(out.end(), from, from + v.iov_len);
            }
        }
        ASSERT_EQ(out, _packed);
    }

private:
    const Known& _known;
    const MPI_Count _count;
    std::vector<MPI_Aint> _places;
    std::vector<unsigned char> _bytes;
    std::vector<unsigned char> _packed;
    MPI_Aint _base = 0;
};

void check(const Known& known, MPI_Count count) {
    ASSERT_EQ(known.type->commit(), MPI_SUCCESS);
    Memory memory(known, count);
    for (std::size_t piece :
        {std::size_t(1) << 30, std::size_t(1), std::size_t(13), std::size_t(64), std::size_t(501)}) {
        ASSERT_NO_FATAL_FAILURE(memory.check_pack(piece)) << piece;
        ASSERT_NO_FATAL_FAILURE(memory.check_unpack(piece)) << piece;
    }
    ASSERT_NO_FATAL_FAILURE(memory.check_blocks());
}

class Blocks : public testing::TestWithParam<int> {
protected:
    const MPI_Count size = GetParam();
    std::mt19937 random{static_cast<unsigned>(GetParam())};
};

TEST_P(Blocks, InRows) {
    for (MPI_Count count : {1, 2, 3, 4, 5, 9}) {
        ASSERT_NO_FATAL_FAILURE(check(row(size, count, size + 7), 3));
    }
    ASSERT_NO_FATAL_FAILURE(check(row(size, 6, -2 * size), 2));
}

TEST_P(Blocks, InRowsOfRows) {
    ASSERT_NO_FATAL_FAILURE(check(rows(size, 5), 1));
    ASSERT_NO_FATAL_FAILURE(check(rows(size, 3), 3));
}

TEST_P(Blocks, InTables) {
    const Known equal = list(std::vector<MPI_Count>(21, size), random);
    ASSERT_NO_FATAL_FAILURE(check(equal, 1));
    ASSERT_NO_FATAL_FAILURE(check(equal, 3));
    ASSERT_NO_FATAL_FAILURE(check(equal, 35));
    EXPECT_EQ(body_of(equal), Body::equal);
    std::vector<MPI_Count> sizes;
    for (int i = 0; i < 40; ++i) {
        sizes.push_back(1 + MPI_Count(random() % unsigned(size)));
    }
    const Known various = list(sizes, random);
    ASSERT_NO_FATAL_FAILURE(check(various, 1));
    ASSERT_NO_FATAL_FAILURE(check(various, 5));
    sizes.resize(20);
    ASSERT_NO_FATAL_FAILURE(check(list(sizes, random), 34));
    EXPECT_NE(body_of(various), Body::block);
}

TEST_P(Blocks, InStructs) {
    for (MPI_Count count : {1, 31, 32, 33, 70}) {
        ASSERT_NO_FATAL_FAILURE(check(structure(size), count));
    }
}

INSTANTIATE_TEST_SUITE_P(SmallSizes, Blocks, testing::Range(1, 72));
INSTANTIATE_TEST_SUITE_P(LargeSizes, Blocks, testing::Values(96, 127, 128, 129, 200, 256, 257, 511, 512, 513, 600));

// Neighbours are merged in pairs here and there; the table still has blocks of one size.
TEST(Tables, ForgiveAFewMergedBlocks) {
    std::vector<MPI_Count> counts{40, 8};
    std::vector<std::pair<MPI_Aint, std::size_t>> blocks;
    for (MPI_Count i = 0; i < 40; ++i) {
        const MPI_Aint place = (i % 10 == 1 ? (i - 1) * (i - 1) * 16 + 8 : i * i * 16);
        counts.push_back(place);
        blocks.emplace_back(place, 8);
    }
    const Known known{create(MPI_COMBINER_HINDEXED_BLOCK, counts, {named(MPI_CHAR)}), blocks};
    ASSERT_NO_FATAL_FAILURE(check(known, 2));
    EXPECT_EQ(body_of(known), Body::equal);
}

// Lists of blocks, as the constructors take them with arguments of both sizes: of one component, and in structs with
// elements of MPI_CHAR between them.
struct List {
    Known component;
    std::vector<int> lengths;
    std::vector<int> places; // in elements
    bool one_length = false;

    Known made_by(int combiner, bool large) const {
        const bool blocks = combiner == MPI_COMBINER_INDEXED_BLOCK || combiner == MPI_COMBINER_HINDEXED_BLOCK;
        const bool in_struct = combiner == MPI_COMBINER_STRUCT;
        const bool in_bytes = in_struct || combiner == MPI_COMBINER_HINDEXED || combiner == MPI_COMBINER_HINDEXED_BLOCK;
        const Known character{named(MPI_CHAR), {{0, 1}}};
        Recipe recipe;
        recipe.combiner = combiner;
        recipe.large = large;
        const auto add = [&](int value) { large ? recipe.add_count(MPI_Count(value)) : recipe.add_count(value); };
        add(int(lengths.size()));
        for (std::size_t i = 0; i < (blocks ? 1 : lengths.size()); ++i) {
            add(lengths[i]);
        }
        Known made;
        for (std::size_t i = 0; i < lengths.size(); ++i) {
            const MPI_Aint place = places[i] * component.type->extent;
            const Known& of_block = in_struct && i % 2 != 0 ? character : component;
            in_bytes ? recipe.add_address(place) : add(places[i]);
            if (in_struct || i == 0) {
                recipe.types.push_back(of_block.type);
            }
            for (int k = 0; k < lengths[i]; ++k) {
                for (const auto& [displacement, bytes] : of_block.blocks) {
                    made.blocks.emplace_back(place + k * of_block.type->extent + displacement, bytes);
                }
            }
        }
        made.type = create(std::move(recipe));
        return made;
    }
};

// Blocks with gaps between them, in which some touch the one before, some are empty, and some are a loop.
List random_list(std::mt19937& random, std::size_t blocks) {
    const Known components[] = {{named(MPI_CHAR), {{0, 1}}}, {named(MPI_DOUBLE), {{0, 8}}},
        {create(MPI_COMBINER_CONTIGUOUS, {3}, {named(MPI_INT)}), {{0, 12}}},
        {create(MPI_COMBINER_RESIZED, {0, 12}, {named(MPI_DOUBLE)}), {{0, 8}}},
        {create(MPI_COMBINER_VECTOR, {2, 1, 3}, {named(MPI_SHORT)}), {{0, 2}, {6, 2}}}};
    List list;
    list.component = components[random() % std::size(components)];
    list.one_length = random() % 2 == 0;
    const bool has_loops = random() % 2 == 0;
    const int length = int(random() % 3) == 0 ? 2 : 1;
    int end = -int(random() % 50);
    for (std::size_t i = 0; i < blocks; ++i) {
        const bool in_loop = has_loops && i % 30 < 10;
        list.lengths.push_back(list.one_length || in_loop ? length : int(random() % 4));
        const int gap = in_loop ? 2 : int(random() % 6) == 0 ? 0 : 1 + int(random() % 9);
        list.places.push_back(end + gap);
        end += gap + list.lengths.back();
    }
    return list;
}

TEST(Tables, AreTheSameFromEachConstructor) {
    std::mt19937 random(7);
    for (std::size_t blocks : {1, 7, 8, 16, 17, 18, 40, 41, 100, 1023, 1024, 1025, 1026, 2100}) {
        for (int round = 0; round < (blocks < 200 ? 40 : 4); ++round) {
            const List list = random_list(random, blocks);
            for (bool large : {false, true}) {
                for (int combiner : {MPI_COMBINER_INDEXED, MPI_COMBINER_HINDEXED, MPI_COMBINER_INDEXED_BLOCK,
                         MPI_COMBINER_HINDEXED_BLOCK, MPI_COMBINER_STRUCT}) {
                    const bool blocks_of_one =
                        combiner == MPI_COMBINER_INDEXED_BLOCK || combiner == MPI_COMBINER_HINDEXED_BLOCK;
                    if (!blocks_of_one || list.one_length) {
                        ASSERT_NO_FATAL_FAILURE(check(list.made_by(combiner, large), 2))
                            << blocks << " blocks, round " << round << ", combiner " << combiner;
                    }
                }
            }
        }
    }
}

// A list of which no part is a loop is one table, however long it is; with loops it is at most one for each 1,024
// nodes.
TEST(Tables, AreFewForManyBlocks) {
    constexpr MPI_Count n = 20000;
    std::vector<MPI_Count> irregular{n, 1};
    std::vector<MPI_Count> with_loops{n, 1};
    MPI_Count place = 0;
    for (MPI_Count i = 0; i < n; ++i) {
        place += 2 + i * i % 11;
        irregular.push_back(place);
        with_loops.push_back(i < 15 ? 3 * i : place + 1000);
    }
    const auto one = create(MPI_COMBINER_INDEXED_BLOCK, irregular, {named(MPI_DOUBLE)});
    const auto other = create(MPI_COMBINER_INDEXED_BLOCK, with_loops, {named(MPI_DOUBLE)});
    EXPECT_EQ(one->layout().node_count(), 1u);
    EXPECT_LE(other->layout().node_count(), std::size_t(n) / 1024 + 2);
}

// What a committed type takes grows with the number of its blocks, by 4 bytes each where all have one size,
// otherwise 8.
TEST(Tables, TakeFewBytesForEachBlock) {
    constexpr MPI_Count n = 50000;
    std::vector<MPI_Count> equal{n, 3};
    std::vector<MPI_Count> various{n};
    for (MPI_Count i = 0; i < n; ++i) {
        equal.push_back(i * 64 + i % 7 * 8);
        various.push_back(1 + i % 5);
    }
    various.insert(various.end(), equal.begin() + 2, equal.end());
    const auto one = create(MPI_COMBINER_HINDEXED_BLOCK, equal, {named(MPI_DOUBLE)});
    const auto other = create(MPI_COMBINER_HINDEXED, various, {named(MPI_DOUBLE)});
    ASSERT_EQ(one->commit(), MPI_SUCCESS);
    ASSERT_EQ(other->commit(), MPI_SUCCESS);
    EXPECT_LE(one->layout().memory(), std::size_t(n) * 4 + 1000);
    EXPECT_LE(other->layout().memory(), std::size_t(n) * 8 + 1000);
    // A component's table is in the layout of its user once, however often it is used.
    const auto user = create(MPI_COMBINER_HVECTOR, {3, 2, MPI_Count(n) * 640}, {one});
    const auto pair = create(MPI_COMBINER_STRUCT, {2, 1, 1, 0, MPI_Count(n) * 6400}, {user, one});
    ASSERT_EQ(pair->commit(), MPI_SUCCESS);
    EXPECT_LE(pair->layout().memory(), std::size_t(n) * 4 * 2 + 2000);
}

// Blocks that are farther apart than 32 bits reach: each cluster has a table of its own, or the blocks remain nodes.
TEST(Tables, EndWhereDisplacementsNeedMoreThan32Bits) {
    constexpr std::size_t span = std::size_t(7) << 30;
    void* memory = mmap(nullptr, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        GTEST_SKIP() << "7 GiB of address space are not available";
    }
    const auto pack = [&](bool clusters) {
        constexpr MPI_Count n = 60;
        std::vector<MPI_Count> counts{n, 4};
        auto* const base = static_cast<unsigned char*>(memory);
        std::vector<unsigned char> expected;
        for (MPI_Count i = 0; i < n; ++i) {
            const MPI_Aint far = clusters ? i / 20 : i % 2;
            const MPI_Aint place = far * (MPI_Aint(3) << 30) + i * i;
            counts.push_back(place);
            for (MPI_Aint b = 0; b < 4; ++b) {
                base[place + b] = static_cast<unsigned char>(i * 4 + b);
            }
        }
        for (std::size_t i = 2; i < counts.size(); ++i) {
            expected.insert(expected.end(), base + counts[i], base + counts[i] + 4);
        }
        const auto type = create(MPI_COMBINER_HINDEXED_BLOCK, counts, {named(MPI_CHAR)});
        EXPECT_EQ(type->commit(), MPI_SUCCESS);
        std::vector<unsigned char> out(expected.size());
        Convertor(*type, 1, memory).pack(out.data(), out.size());
        EXPECT_EQ(out, expected);
        return type->layout().roots();
    };
    EXPECT_EQ(pack(true), 3u);
    EXPECT_GT(pack(false), 20u);
    munmap(memory, span);
}

} // namespace
} // namespace patchbay::test
