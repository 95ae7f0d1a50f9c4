// SPDX-License-Identifier: BSD-3-Clause
// object/type_description.h: a type is described, constructed again from the words, and compared; words that are no
// description are refused.
#include "object/convertor.h"
#include "object/datatype_arrays.h"
#include "object/datatype_f90.h"
#include "object/type_description.h"
#include "tests/datatype/random_type.h"
#include "tests/datatype/recipes.h"

#include <climits>
#include <limits>
#include <random>

namespace patchbay::test {
namespace {

using Words = std::vector<std::int64_t>;
using Integers = std::vector<int>;

Recipe small(int combiner, Integers integers, std::vector<MPI_Aint> addresses, std::vector<Ref<Datatype>> types) {
    Recipe recipe;
    recipe.combiner = combiner;
    recipe.integers = std::move(integers);
    recipe.addresses = std::move(addresses);
    recipe.types = std::move(types);
    return recipe;
}

void expect_equal(const Datatype& one, const Datatype& other) {
    EXPECT_EQ(one.size, other.size);
    EXPECT_EQ(one.extent, other.extent);
    EXPECT_EQ(one.lower_bound, other.lower_bound);
    EXPECT_EQ(one.true_lower_bound, other.true_lower_bound);
    EXPECT_EQ(one.true_extent, other.true_extent);
    EXPECT_EQ(one.basic, other.basic);
    EXPECT_EQ(one.bounded, other.bounded);
    EXPECT_EQ(one.alignment, other.alignment);
    const Recipe& a = one.recipe();
    const Recipe& b = other.recipe();
    EXPECT_EQ(a.combiner, b.combiner);
    EXPECT_EQ(a.large, b.large);
    EXPECT_EQ(a.integers, b.integers);
    EXPECT_EQ(a.addresses, b.addresses);
    EXPECT_EQ(a.counts, b.counts);
    ASSERT_EQ(a.types.size(), b.types.size());
    for (std::size_t i = 0; i < a.types.size(); ++i) {
        if (a.types[i].get() != b.types[i].get()) { // a predefined one is the same object
            expect_equal(*a.types[i], *b.types[i]);
        }
    }
}

// Two elements of both types select the same bytes in the same order.
void expect_equal_data(const Datatype& one, const Datatype& other) {
    if (one.size == 0 || one.size > 4096 || one.extent > 65536 || one.extent < -65536 || one.true_extent > 65536) {
        return;
    }
    const MPI_Aint across = one.extent < 0 ? one.extent : 0;
    const MPI_Aint low = one.true_lower_bound + across;
    const auto bytes = std::size_t(one.true_extent + (one.extent < 0 ? -one.extent : one.extent));
    std::vector<unsigned char> memory(bytes);
    for (std::size_t i = 0; i < bytes; ++i) {
        memory[i] = static_cast<unsigned char>(i * 131 + i / 251);
    }
    const auto pack = [&](const Datatype& type) {
        std::vector<unsigned char> packed(std::size_t(2 * type.size));
        Convertor(type, 2, memory.data() - low).pack(packed.data(), packed.size());
        return packed;
    };
    EXPECT_EQ(pack(one), pack(other));
}

Words described(const Datatype& type) {
    Words words;
    EXPECT_EQ(describe_type(type, &words), MPI_SUCCESS);
    return words;
}

void expect_round_trip(Ref<Datatype> type) {
    ASSERT_TRUE(type);
    ASSERT_EQ(type->commit(), MPI_SUCCESS);
    Ref<Datatype> other;
    ASSERT_EQ(construct_described_type(described(*type), &other), MPI_SUCCESS);
    EXPECT_TRUE(other->committed);
    EXPECT_EQ(other->dense, type->dense);
    expect_equal(*type, *other);
    expect_equal_data(*type, *other);
}

Ref<Datatype> subarray(bool large_counts) {
    Recipe recipe;
    recipe.combiner = MPI_COMBINER_SUBARRAY;
    recipe.large = large_counts;
    recipe.types = {named(MPI_SHORT)};
    if (large_counts) {
        recipe.integers = {2, MPI_ORDER_C};
        recipe.counts = {5, 7, 2, 3, 1, 2};
    } else {
        recipe.integers = {2, 5, 7, 2, 3, 1, 2, MPI_ORDER_FORTRAN};
    }
    const std::vector<MPI_Count> sizes = {5, 7}, subsizes = {2, 3}, starts = {1, 2};
    EXPECT_EQ(make_subarray_body(sizes, subsizes, starts, recipe.integers.back(), *recipe.types[0], &recipe.body),
        MPI_SUCCESS);
    return create(std::move(recipe));
}

Ref<Datatype> darray(bool large_counts) {
    std::vector<DistributedDimension> dimensions = {{10, MPI_DISTRIBUTE_CYCLIC, 2, 2, 0},
        {9, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_DFLT_DARG, 3, 0},
        {4, MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_DFLT_DARG, 1, 0}};
    set_grid_coordinates(dimensions, 4);
    Recipe recipe;
    recipe.combiner = MPI_COMBINER_DARRAY;
    recipe.large = large_counts;
    recipe.types = {named(MPI_INT)};
    recipe.integers = {6, 4, 3};
    for (const DistributedDimension& d : dimensions) {
        if (large_counts) {
            recipe.counts.push_back(d.size);
        } else {
            recipe.integers.push_back(int(d.size));
        }
    }
    for (const auto member :
        {&DistributedDimension::distribution, &DistributedDimension::argument, &DistributedDimension::processes}) {
        for (const DistributedDimension& d : dimensions) {
            recipe.integers.push_back(d.*member);
        }
    }
    recipe.integers.push_back(MPI_ORDER_C);
    EXPECT_EQ(make_darray_body(dimensions, MPI_ORDER_C, *recipe.types[0], &recipe.body), MPI_SUCCESS);
    return create(std::move(recipe));
}

std::vector<Ref<Datatype>> every_constructor() {
    const auto pair = named(MPI_DOUBLE_INT);
    const auto number = named(MPI_INT);
    Datatype* real = nullptr;
    EXPECT_EQ(f90_real(10, 100, &real), MPI_SUCCESS);
    Datatype* integer = nullptr;
    EXPECT_EQ(f90_integer(9, &integer), MPI_SUCCESS);
    return {
        create(small(MPI_COMBINER_DUP, {}, {}, {pair})),
        create(small(MPI_COMBINER_CONTIGUOUS, {3}, {}, {pair})),
        create(small(MPI_COMBINER_VECTOR, {3, 2, 5}, {}, {number})),
        create(small(MPI_COMBINER_HVECTOR, {3, 2}, {-44}, {number})),
        create(small(MPI_COMBINER_INDEXED, {3, 2, 0, 1, 5, 1, -3}, {}, {number})),
        create(small(MPI_COMBINER_HINDEXED, {2, 2, 1}, {100, 3}, {number})),
        create(small(MPI_COMBINER_INDEXED_BLOCK, {3, 2, 9, 4, 0}, {}, {number})),
        create(small(MPI_COMBINER_HINDEXED_BLOCK, {3, 2}, {9, 40, 70}, {number})),
        create(small(MPI_COMBINER_STRUCT, {3, 1, 2, 0}, {64, 0, 7}, {pair, named(MPI_CHAR), number})),
        create(small(MPI_COMBINER_RESIZED, {}, {-8, 40}, {pair})),
        create(MPI_COMBINER_CONTIGUOUS, {7}, {number}),
        create(MPI_COMBINER_VECTOR, {2, 3, 4}, {number}),
        create(MPI_COMBINER_HVECTOR, {2, 3, 50}, {number}),
        create(MPI_COMBINER_INDEXED, {2, 3, 4, 0, 9}, {number}),
        create(MPI_COMBINER_HINDEXED, {2, 3, 4, 0, 90}, {number}),
        create(MPI_COMBINER_INDEXED_BLOCK, {2, 3, 4, 0}, {number}),
        create(MPI_COMBINER_HINDEXED_BLOCK, {2, 3, 4, 90}, {number}),
        create(MPI_COMBINER_STRUCT, {2, 1, 1, 0, 16}, {pair, named(MPI_SHORT_INT)}),
        create(MPI_COMBINER_RESIZED, {0, 128}, {number}),
        // More than 2 GiB, at displacements over 2^32.
        create(MPI_COMBINER_VECTOR, {MPI_Count(1) << 33, 3, MPI_Count(1) << 20}, {named(MPI_CHAR)}),
        create(MPI_COMBINER_HINDEXED, {2, MPI_Count(1) << 34, 1, MPI_Count(1) << 40, -5}, {named(MPI_CHAR)}),
        subarray(false),
        subarray(true),
        darray(false),
        darray(true),
        Ref<Datatype>::share(real),
        create(MPI_COMBINER_CONTIGUOUS, {2}, {Ref<Datatype>::share(integer)}),
        create(MPI_COMBINER_CONTIGUOUS, {0}, {number}),
        named(MPI_FLOAT),
        named(MPI_DOUBLE_INT),
    };
}

TEST(Description, EveryConstructor) {
    for (const Ref<Datatype>& type : every_constructor()) {
        SCOPED_TRACE(type->recipe().combiner);
        expect_round_trip(type);
    }
}

TEST(Description, Nested) {
    for (const Ref<Datatype>& inner : every_constructor()) {
        SCOPED_TRACE(inner->recipe().combiner);
        if (inner->size > 4096) {
            continue;
        }
        const auto vector = create(MPI_COMBINER_VECTOR, {2, 1, 3}, {inner});
        expect_round_trip(create(MPI_COMBINER_STRUCT, {3, 1, 2, 1, 0, 4096, 20000},
            {vector, inner, create(small(MPI_COMBINER_DUP, {}, {}, {vector}))}));
    }
}

TEST(Description, RandomTypes) {
    for (unsigned seed = 1; seed <= 300; ++seed) {
        SCOPED_TRACE(seed);
        TypeMaker maker(seed);
        expect_round_trip(maker.make(int(seed % 5)).type);
    }
}

TEST(Description, AComponentIsDescribedOnce) {
    auto type = named(MPI_INT);
    for (int level = 0; level < 40; ++level) {
        type = create(MPI_COMBINER_STRUCT, {2, 1, 1, 0, 0}, {type, type});
        if (level == 20) {
            type = create(MPI_COMBINER_CONTIGUOUS, {0}, {type}); // or the size overflows
        }
    }
    EXPECT_LT(described(*type).size(), 41u * 13 + 8);
}

TEST(Description, DeepTypesAreRefused) {
    const auto nested = [](std::uint32_t levels) {
        auto type = named(MPI_INT);
        for (std::uint32_t i = 0; i < levels; ++i) {
            type = create(MPI_COMBINER_CONTIGUOUS, {1}, {type});
        }
        return type;
    };
    expect_round_trip(nested(deepest_description));
    const auto deep = nested(deepest_description + 1);
    Words words;
    EXPECT_EQ(describe_type(*deep, &words), MPI_ERR_TYPE);
    // The same from a process that does not keep the limit: one more node around the deepest one.
    words = described(*nested(deepest_description));
    words.back() = std::int64_t(deepest_description);
    words[1] += 1;
    const Words around = {MPI_COMBINER_CONTIGUOUS, 1, 0, 0, 1, 1, 1, std::int64_t(deepest_description) - 1};
    words.insert(words.end() - 1, around.begin(), around.end());
    Ref<Datatype> result;
    EXPECT_EQ(construct_described_type(words, &result), MPI_ERR_TYPE);
    // An array type of so many dimensions is deep as well.
    Words array = {words[0], 1, MPI_COMBINER_SUBARRAY, 0, 3 * 5000 + 2, 0, 0, 1, 5000};
    array.insert(array.end(), 2 * 5000, 1);
    array.insert(array.end(), 5000, 0);
    array.insert(array.end(), {MPI_ORDER_C, -std::int64_t(reinterpret_cast<std::uintptr_t>(MPI_INT)), 0});
    EXPECT_EQ(construct_described_type(array, &result), MPI_ERR_TYPE);
}

TEST(Description, TruncatedWordsAreRefused) {
    for (const Ref<Datatype>& type : every_constructor()) {
        const Words words = described(*type);
        for (std::size_t length = 0; length < words.size(); ++length) {
            Ref<Datatype> result;
            EXPECT_NE(construct_described_type(std::span(words).first(length), &result), MPI_SUCCESS);
            EXPECT_FALSE(result);
        }
        Words longer = words;
        longer.push_back(0);
        Ref<Datatype> result;
        EXPECT_NE(construct_described_type(longer, &result), MPI_SUCCESS);
    }
}

// What the constructors of MPI refuse.
TEST(Description, WrongArgumentsAreRefused) {
    const std::int64_t integer = -std::int64_t(reinterpret_cast<std::uintptr_t>(MPI_INT));
    const std::int64_t mark = described(*named(MPI_INT))[0];
    const auto refused = [&](Words node) {
        Words words = {mark, 1};
        words.insert(words.end(), node.begin(), node.end());
        words.push_back(0);
        Ref<Datatype> result;
        return construct_described_type(words, &result);
    };
    EXPECT_EQ(refused({MPI_COMBINER_CONTIGUOUS, 0, 1, 0, 0, 1, 4, integer}), MPI_SUCCESS); // the node as such is right
    EXPECT_EQ(refused({MPI_COMBINER_CONTIGUOUS, 0, 1, 0, 0, 1, -1, integer}), MPI_ERR_TYPE);
    EXPECT_EQ(refused({MPI_COMBINER_CONTIGUOUS, 0, 1, 0, 0, 1, 4, 0}), MPI_ERR_TYPE);      // itself
    EXPECT_EQ(refused({MPI_COMBINER_CONTIGUOUS, 0, 1, 0, 0, 1, 4, -0x200}), MPI_ERR_TYPE); // MPI_DATATYPE_NULL
    EXPECT_EQ(refused({MPI_COMBINER_CONTIGUOUS, 0, 1, 0, 0, 1, INT64_MAX, integer}), MPI_ERR_TYPE);
    EXPECT_EQ(refused({MPI_COMBINER_CONTIGUOUS, 1, 0, 0, 1, 1, INT64_MAX, integer}), MPI_ERR_VALUE_TOO_LARGE);
    EXPECT_EQ(refused({MPI_COMBINER_CONTIGUOUS, 2, 0, 0, 1, 1, 4, integer}), MPI_ERR_TYPE);
    EXPECT_EQ(refused({MPI_COMBINER_NAMED, 0, 0, 0, 0, 0}), MPI_ERR_TYPE);
    EXPECT_EQ(refused({MPI_COMBINER_INDEXED, 1, 0, 0, 1, 1, INT64_MAX, integer}), MPI_ERR_TYPE);
    EXPECT_EQ(refused({MPI_COMBINER_INDEXED, 1, 0, 0, 3, 1, 1, -1, 0, integer}), MPI_ERR_TYPE);
    EXPECT_EQ(refused({MPI_COMBINER_STRUCT, 0, 2, 1, 0, 0, 1, 1, 0}), MPI_ERR_TYPE);
    EXPECT_EQ(refused({MPI_COMBINER_SUBARRAY, 0, 5, 0, 0, 1, 1, 4, 3, 2, MPI_ORDER_C, integer}), MPI_ERR_TYPE);
    EXPECT_EQ(refused({MPI_COMBINER_SUBARRAY, 0, 5, 0, 0, 1, 1, 4, 3, 1, 77, integer}), MPI_ERR_TYPE);
    EXPECT_EQ(refused({MPI_COMBINER_SUBARRAY, 0, 5, 0, 0, 1, INT_MAX, 4, 3, 1, MPI_ORDER_C, integer}), MPI_ERR_TYPE);
    EXPECT_EQ(refused({MPI_COMBINER_DARRAY, 0, 8, 0, 0, 1, 2, 2, 1, 10, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_DFLT_DARG,
                  2, MPI_ORDER_C, integer}),
        MPI_ERR_TYPE); // the rank
    EXPECT_EQ(refused({MPI_COMBINER_F90_REAL, 0, 2, 0, 0, 0, 1000, 1000}), MPI_ERR_TYPE);
    EXPECT_EQ(refused({MPI_COMBINER_F90_REAL, 0, 1, 0, 0, 0, 6}), MPI_ERR_TYPE);
}

// Every word of every description is replaced by values that are near the limits: the result is a type or an error.
TEST(Description, ChangedWordsDoNoHarm) {
    std::mt19937_64 random(5);
    const std::int64_t values[] = {0, 1, -1, 2, 7, 1000, -0x20c, INT_MAX, INT_MIN, INT64_MAX, INT64_MIN, 1ll << 40};
    int refused = 0;
    for (const Ref<Datatype>& type : every_constructor()) {
        const Words words = described(*type);
        for (std::size_t at = 0; at < words.size(); ++at) {
            Words changed = words;
            for (const std::int64_t value : values) {
                changed[at] = value;
                Ref<Datatype> result;
                refused += construct_described_type(changed, &result) != MPI_SUCCESS ? 1 : 0;
            }
            changed[at] = std::int64_t(random());
            changed[random() % changed.size()] = std::int64_t(random() % 64);
            Ref<Datatype> result;
            refused += construct_described_type(changed, &result) != MPI_SUCCESS ? 1 : 0;
        }
    }
    EXPECT_GT(refused, 1000);
}

} // namespace
} // namespace patchbay::test
