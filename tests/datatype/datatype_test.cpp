// SPDX-License-Identifier: BSD-3-Clause
// Known types: bounds from the standard's rules, names, sizes that need 64 bits, sharing, array types, Fortran kinds.
#include "object/convertor.h"
#include "object/datatype_arrays.h"
#include "object/datatype_f90.h"
#include "tests/datatype/recipes.h"

#include <array>
#include <limits>
#include <numeric>

namespace patchbay::test {
namespace {

TEST(PredefinedTypes, AreThereBeforeInit) {
    const Datatype& type = *to_object<Datatype>(MPI_INT);
    EXPECT_EQ(to_handle(&type), MPI_INT);
    EXPECT_TRUE(type.is_predefined());
    EXPECT_TRUE(type.committed);
    EXPECT_TRUE(type.dense);
    EXPECT_EQ(type.name, "MPI_INT");
    EXPECT_EQ(to_object<Datatype>(MPI_DATATYPE_NULL), nullptr);
}

TEST(PredefinedTypes, HaveTheShapeOfTheirCTypes) {
    struct LongDoubleInt {
        long double value;
        int index;
    };
    const auto shape = [](MPI_Datatype handle, MPI_Count size, std::size_t extent) {
        const Datatype& type = *to_object<Datatype>(handle);
        EXPECT_EQ(type.size, size) << type.name;
        EXPECT_EQ(type.extent, static_cast<MPI_Aint>(extent)) << type.name;
    };
    shape(MPI_WCHAR, sizeof(wchar_t), sizeof(wchar_t));
    shape(MPI_LONG_DOUBLE, sizeof(long double), sizeof(long double));
    shape(MPI_C_LONG_DOUBLE_COMPLEX, 2 * sizeof(long double), 2 * sizeof(long double));
    shape(MPI_SHORT_INT, sizeof(short) + sizeof(int), 8);
    shape(MPI_DOUBLE_INT, 12, 16);
    shape(MPI_LONG_DOUBLE_INT, sizeof(long double) + sizeof(int), sizeof(LongDoubleInt));
    shape(MPI_2INT, 8, 8);
    EXPECT_EQ(to_object<Datatype>(MPI_SHORT_INT)->true_extent, 8);
    EXPECT_EQ(to_object<Datatype>(MPI_DOUBLE_INT)->true_extent, 12);
}

TEST(PredefinedTypes, OptionalOnesWeLackAreThereWithoutASize) {
    for (MPI_Datatype handle : {MPI_REAL2, MPI_COMPLEX4}) {
        EXPECT_EQ(to_object<Datatype>(handle)->size, MPI_UNDEFINED);
        EXPECT_FALSE(to_object<Datatype>(handle)->committed);
    }
}

TEST(Bounds, StructIsPaddedToItsAlignment) {
    const auto type = create(MPI_COMBINER_STRUCT, {2, 1, 1, 0, 8}, {named(MPI_DOUBLE), named(MPI_CHAR)});
    EXPECT_EQ(type->size, 9);
    EXPECT_EQ(type->extent, 16);
    EXPECT_EQ(type->true_extent, 9);
}

TEST(Bounds, SetByHandHoldAgainstTheData) {
    const auto narrow = create(MPI_COMBINER_RESIZED, {-4, 6}, {named(MPI_INT)});
    EXPECT_EQ(narrow->lower_bound, -4);
    EXPECT_EQ(narrow->extent, 6);
    EXPECT_EQ(narrow->true_lower_bound, 0);
    // A member with such bounds decides for the whole struct.
    const auto outer = create(MPI_COMBINER_STRUCT, {2, 1, 1, 0, 100}, {narrow, named(MPI_DOUBLE)});
    EXPECT_EQ(outer->lower_bound, -4);
    EXPECT_EQ(outer->extent, 6);
    EXPECT_EQ(outer->true_extent, 108);
}

TEST(Bounds, EmptyTypesHaveNone) {
    const auto type = create(MPI_COMBINER_CONTIGUOUS, {0}, {named(MPI_DOUBLE)});
    EXPECT_EQ(type->size, 0);
    EXPECT_EQ(type->extent, 0);
    ASSERT_EQ(type->commit(), MPI_SUCCESS);
    EXPECT_TRUE(type->dense);
    Convertor convertor(*type, 10, nullptr);
    EXPECT_EQ(convertor.total(), 0u);
    char out[8];
    EXPECT_EQ(convertor.pack(out, sizeof out), 0u);
    // A block without elements does not change the bounds.
    const auto outer = create(MPI_COMBINER_HINDEXED, {2, 0, 1, -800, 8}, {named(MPI_INT)});
    EXPECT_EQ(outer->lower_bound, 8);
    EXPECT_EQ(outer->extent, 4);
}

TEST(Bounds, ThatDoNotFitAreRefused) {
    constexpr MPI_Count most = std::numeric_limits<MPI_Count>::max();
    Ref<Datatype> type;
    EXPECT_EQ(
        Datatype::create(large(MPI_COMBINER_CONTIGUOUS, {most / 2}, {named(MPI_INT)}), &type), MPI_ERR_VALUE_TOO_LARGE);
    EXPECT_EQ(Datatype::create(large(MPI_COMBINER_VECTOR, {most, 1, most}, {named(MPI_CHAR)}), &type),
        MPI_ERR_VALUE_TOO_LARGE);
    EXPECT_EQ(Datatype::create(large(MPI_COMBINER_VECTOR, {most, most, 1}, {named(MPI_DOUBLE)}), &type),
        MPI_ERR_VALUE_TOO_LARGE);
    EXPECT_EQ(Datatype::create(large(MPI_COMBINER_HINDEXED, {2, 1, 1, most, -most}, {named(MPI_CHAR)}), &type),
        MPI_ERR_VALUE_TOO_LARGE);
    EXPECT_EQ(
        Datatype::create(large(MPI_COMBINER_INDEXED, {1, 1, most}, {named(MPI_INT)}), &type), MPI_ERR_VALUE_TOO_LARGE);
    EXPECT_FALSE(type);
}

// Types of more elements than memory can list; each must be a handful of nodes.
TEST(HugeTypes, StaySmall) {
    constexpr MPI_Count tera = MPI_Count(1) << 40;
    const auto block = create(MPI_COMBINER_CONTIGUOUS, {tera}, {named(MPI_INT)});
    ASSERT_EQ(block->commit(), MPI_SUCCESS);
    EXPECT_EQ(block->size, 4 * tera);
    EXPECT_TRUE(block->dense);
    EXPECT_EQ(block->layout().node_count(), 1u);

    const auto column = create(MPI_COMBINER_VECTOR, {MPI_Count(1) << 31, 1, 3}, {named(MPI_INT)});
    ASSERT_EQ(column->commit(), MPI_SUCCESS);
    EXPECT_EQ(column->layout().node_count(), 1u);

    const auto pairs = create(MPI_COMBINER_STRUCT, {2, 1, 2, 0, 6}, {named(MPI_SHORT), named(MPI_CHAR)});
    const auto many = create(MPI_COMBINER_VECTOR, {MPI_Count(1) << 30, 3, 5}, {pairs});
    const auto more = create(MPI_COMBINER_CONTIGUOUS, {1000}, {many});
    ASSERT_EQ(more->commit(), MPI_SUCCESS);
    EXPECT_LE(more->layout().node_count(), 8u);
    EXPECT_EQ(more->size, 1000 * (MPI_Count(1) << 30) * 3 * 4);
    EXPECT_EQ(more->elements_in(static_cast<std::uint64_t>(more->size)), 1000 * (MPI_Count(1) << 30) * 9);
    // Three whole structs, then a short and the first of two chars.
    EXPECT_EQ(more->elements_in(3 * 4 + 3), 3 * 3 + 2);
    EXPECT_EQ(more->elements_in(3 * 4 + 1), MPI_UNDEFINED);
}

TEST(HugeTypes, ListsOfBlocksGrowBySumsNotByProducts) {
    constexpr MPI_Count n = 2000;
    std::vector<MPI_Count> counts{n, 2};
    for (MPI_Count i = 0; i < n; ++i) {
        counts.push_back(i * i * 8); // no two gaps alike
    }
    const auto inner = create(MPI_COMBINER_HINDEXED_BLOCK, counts, {named(MPI_SHORT)});
    const auto outer = create(MPI_COMBINER_HINDEXED_BLOCK, counts, {inner});
    ASSERT_EQ(outer->commit(), MPI_SUCCESS);
    EXPECT_LE(outer->layout().node_count(), static_cast<std::size_t>(3 * n));
    EXPECT_EQ(outer->size, n * 2 * n * 2 * 2);
}

TEST(HugeTypes, SeekFarIntoAStreamWithoutWalkingThere) {
    const auto gap = create(MPI_COMBINER_STRUCT, {2, 1, 1, 0, 3}, {named(MPI_CHAR), named(MPI_CHAR)});
    const auto wide = create(MPI_COMBINER_RESIZED, {0, 5}, {gap});
    const auto line = create(MPI_COMBINER_VECTOR, {MPI_Count(1) << 30, 1, 2}, {wide});
    const auto plane = create(MPI_COMBINER_CONTIGUOUS, {MPI_Count(1) << 20}, {line});
    ASSERT_EQ(plane->commit(), MPI_SUCCESS);
    Convertor convertor(*plane, 4, reinterpret_cast<void*>(std::uintptr_t(1) << 30));
    ASSERT_EQ(convertor.total(), std::size_t(1) << 53);
    const std::size_t position = (std::size_t(1) << 52) + (std::size_t(12345) << 31) + 6;
    convertor.seek(position);
    iovec v;
    ASSERT_EQ(convertor.next_blocks({&v, 1}, 100), 1u);
    // Position / 2^31 is the line (its extent ends with its last block), the rest of it halved is the block.
    const MPI_Aint lines = MPI_Aint(position >> 31);
    const MPI_Aint address = (MPI_Aint(1) << 30) + lines * line->extent + 3 * 10;
    EXPECT_EQ(reinterpret_cast<MPI_Aint>(v.iov_base), address);
    EXPECT_EQ(v.iov_len, 1u);
}

TEST(Layouts, NeighboursOfDifferentTypesAreOneBlock) {
    const auto type =
        create(MPI_COMBINER_STRUCT, {3, 1, 1, 2, 0, 8, 12}, {named(MPI_DOUBLE), named(MPI_INT), named(MPI_SHORT)});
    ASSERT_EQ(type->commit(), MPI_SUCCESS);
    EXPECT_TRUE(type->dense);
    EXPECT_EQ(type->layout().roots(), 1u);
    EXPECT_EQ(type->typed_layout().roots(), 3u);
}

TEST(Layouts, OneElementOfASparseTypeMayStillBeOneBlock) {
    const auto type = create(MPI_COMBINER_RESIZED, {0, 64}, {named(MPI_INT)});
    ASSERT_EQ(type->commit(), MPI_SUCCESS);
    EXPECT_FALSE(type->dense);
    int value = 0;
    EXPECT_NE(Convertor(*type, 1, &value).contiguous(), nullptr);
    EXPECT_EQ(Convertor(*type, 2, &value).contiguous(), nullptr);
}

TEST(Layouts, AbsoluteAddressesFromBottom) {
    int a = 5;
    double b = 2.5;
    const auto type = create(MPI_COMBINER_STRUCT,
        {2, 1, 1, reinterpret_cast<MPI_Aint>(&a), reinterpret_cast<MPI_Aint>(&b)}, {named(MPI_INT), named(MPI_DOUBLE)});
    ASSERT_EQ(type->commit(), MPI_SUCCESS);
    unsigned char out[12];
    Convertor convertor(*type, 1, MPI_BOTTOM);
    ASSERT_EQ(convertor.pack(out, sizeof out), sizeof out);
    EXPECT_EQ(std::memcmp(out, &a, 4), 0);
    EXPECT_EQ(std::memcmp(out + 4, &b, 8), 0);
}

TEST(Lifetime, ComponentsExistAsLongAsTheirUsers) {
    auto inner = create(MPI_COMBINER_VECTOR, {2, 1, 2}, {named(MPI_INT)});
    Datatype* raw = inner.get();
    auto outer = create(MPI_COMBINER_CONTIGUOUS, {3}, {inner});
    EXPECT_EQ(raw->references(), 2);
    inner.reset();
    EXPECT_EQ(raw->references(), 1);
    ASSERT_EQ(outer->commit(), MPI_SUCCESS); // reads the component's layout
    EXPECT_EQ(outer->size, 24);
    const int before = to_object<Datatype>(MPI_INT)->references();
    outer.reset();
    EXPECT_EQ(to_object<Datatype>(MPI_INT)->references(), before - 1);
}

// Every element of a distributed array belongs to exactly one process, the one that the standard defines.
void check_darray(std::array<int, 2> sizes, std::array<int, 2> distributions, std::array<int, 2> arguments,
    std::array<int, 2> grid, int order) {
    const auto total = static_cast<std::size_t>(sizes[0] * sizes[1]);
    std::vector<int> owners(total, -1);
    for (int rank = 0; rank < grid[0] * grid[1]; ++rank) {
        std::array<DistributedDimension, 2> dimensions;
        for (std::size_t d = 0; d < 2; ++d) {
            dimensions[d] = {sizes[d], distributions[d], arguments[d], grid[d], 0};
        }
        set_grid_coordinates(dimensions, rank);
        Ref<Datatype> type;
        ASSERT_EQ(make_darray_body(dimensions, order, *to_object<Datatype>(MPI_INT), &type), MPI_SUCCESS);
        ASSERT_EQ(type->commit(), MPI_SUCCESS);
        ASSERT_EQ(type->extent, static_cast<MPI_Aint>(total * sizeof(int)));
        ASSERT_EQ(type->lower_bound, 0);
        std::vector<int> array(total);
        std::iota(array.begin(), array.end(), 0);
        std::vector<int> mine(static_cast<std::size_t>(type->size) / sizeof(int));
        Convertor(*type, 1, array.data()).pack(mine.data(), mine.size() * sizeof(int));
        ASSERT_TRUE(std::is_sorted(mine.begin(), mine.end()));
        for (int index : mine) {
            ASSERT_EQ(owners[static_cast<std::size_t>(index)], -1);
            owners[static_cast<std::size_t>(index)] = rank;
        }
    }
    for (int i = 0; i < sizes[0]; ++i) {
        for (int j = 0; j < sizes[1]; ++j) {
            const int at[2] = {i, j};
            int coordinates[2];
            for (std::size_t d = 0; d < 2; ++d) {
                const int argument = arguments[d];
                const bool standard = argument == MPI_DISTRIBUTE_DFLT_DARG;
                if (distributions[d] == MPI_DISTRIBUTE_NONE) {
                    coordinates[d] = 0;
                } else if (distributions[d] == MPI_DISTRIBUTE_BLOCK) {
                    coordinates[d] = at[d] / (standard ? (sizes[d] + grid[d] - 1) / grid[d] : argument);
                } else {
                    coordinates[d] = at[d] / (standard ? 1 : argument) % grid[d];
                }
            }
            const int index = order == MPI_ORDER_C ? i * sizes[1] + j : i + j * sizes[0];
            ASSERT_EQ(owners[static_cast<std::size_t>(index)], coordinates[0] * grid[1] + coordinates[1])
                << "element " << i << ',' << j;
        }
    }
}

TEST(DistributedArrays, GiveEveryElementToItsOwner) {
    constexpr int standard = MPI_DISTRIBUTE_DFLT_DARG;
    constexpr int block = MPI_DISTRIBUTE_BLOCK;
    constexpr int cyclic = MPI_DISTRIBUTE_CYCLIC;
    for (int order : {MPI_ORDER_C, MPI_ORDER_FORTRAN}) {
        check_darray({7, 5}, {block, block}, {standard, standard}, {2, 3}, order);
        check_darray({7, 5}, {cyclic, block}, {standard, 4}, {3, 2}, order);
        check_darray({11, 9}, {cyclic, cyclic}, {2, 3}, {3, 2}, order);
        check_darray({4, 6}, {MPI_DISTRIBUTE_NONE, cyclic}, {standard, 4}, {1, 4}, order);
        check_darray({3, 3}, {block, cyclic}, {2, 1}, {4, 5}, order); // more processes than rows
        check_darray({12, 10}, {cyclic, MPI_DISTRIBUTE_NONE}, {5, standard}, {2, 1}, order);
    }
}

TEST(FortranKinds, AreChosenByPrecisionAndRange) {
    Datatype* type = nullptr;
    const auto real = [&](int p, int r) { return f90_real(p, r, &type) == MPI_SUCCESS ? type->size : -1; };
    EXPECT_EQ(real(6, 37), 4);
    EXPECT_EQ(real(7, MPI_UNDEFINED), 8);
    EXPECT_EQ(real(MPI_UNDEFINED, 38), 8);
    EXPECT_EQ(real(18, 300), 16);
    EXPECT_EQ(real(33, 4931), 16);
    EXPECT_EQ(real(34, 10), -1);
    EXPECT_EQ(real(MPI_UNDEFINED, MPI_UNDEFINED), -1);
    ASSERT_EQ(f90_complex(15, MPI_UNDEFINED, &type), MPI_SUCCESS);
    EXPECT_EQ(type->size, 16);
    EXPECT_EQ(type->recipe().combiner, MPI_COMBINER_F90_COMPLEX);
    EXPECT_EQ(type->recipe().integers, (std::vector<int>{15, MPI_UNDEFINED}));
    const int sizes[][2] = {{1, 1}, {2, 1}, {3, 2}, {9, 4}, {10, 8}, {18, 8}, {19, 16}, {38, 16}};
    for (const auto& [range, size] : sizes) {
        ASSERT_EQ(f90_integer(range, &type), MPI_SUCCESS);
        EXPECT_EQ(type->size, size) << range;
    }
    EXPECT_EQ(f90_integer(39, &type), MPI_ERR_ARG);
}

TEST(FortranKinds, AreTheSameTypeEveryTimeAndReduceLikeIt) {
    Datatype* first = nullptr;
    Datatype* second = nullptr;
    ASSERT_EQ(f90_real(12, 100, &first), MPI_SUCCESS);
    ASSERT_EQ(f90_real(12, 100, &second), MPI_SUCCESS);
    EXPECT_EQ(first, second);
    EXPECT_TRUE(first->committed);
    EXPECT_TRUE(first->is_predefined());
    EXPECT_EQ(to_object<Datatype>(to_handle(first)), first);
    EXPECT_EQ(basic_type(first->basic).machine, Machine::f64);
}

TEST(TypesBySizeAndPair, AreFound) {
    EXPECT_EQ(to_handle(type_of_size(MPI_TYPECLASS_REAL, 8)), MPI_REAL8);
    EXPECT_EQ(to_handle(type_of_size(MPI_TYPECLASS_COMPLEX, 8)), MPI_COMPLEX8);
    EXPECT_EQ(to_handle(type_of_size(MPI_TYPECLASS_INTEGER, 2)), MPI_INTEGER2);
    EXPECT_EQ(type_of_size(MPI_TYPECLASS_REAL, 2), nullptr);
    EXPECT_EQ(type_of_size(MPI_TYPECLASS_INTEGER, 3), nullptr);
    const auto pair = [](MPI_Datatype value, MPI_Datatype index) {
        return pair_type(*to_object<Datatype>(value), *to_object<Datatype>(index));
    };
    EXPECT_EQ(to_handle(pair(MPI_DOUBLE, MPI_INT)), MPI_DOUBLE_INT);
    EXPECT_EQ(to_handle(pair(MPI_INT, MPI_INT)), MPI_2INT);
    EXPECT_EQ(pair(MPI_DOUBLE, MPI_LONG), nullptr);
}

} // namespace
} // namespace patchbay::test
