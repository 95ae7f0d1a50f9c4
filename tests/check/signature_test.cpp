// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/check/signature.h"

#include "object/communicator.h"
#include "object/recipe.h"

#include <gtest/gtest.h>

// No communicator is destroyed here.
void patchbay::Communicator::destroy(Communicator*) noexcept {}

namespace patchbay::check {
namespace {

const Datatype& basic(MPI_Datatype handle) {
    return *to_object<Datatype>(handle);
}

Ref<Datatype> make(Recipe recipe) {
    Ref<Datatype> type;
    EXPECT_EQ(Datatype::create(std::move(recipe), &type), MPI_SUCCESS);
    EXPECT_EQ(type->commit(), MPI_SUCCESS);
    return type;
}

Ref<Datatype> share(const Datatype& type) {
    return Ref<Datatype>::share(const_cast<Datatype*>(&type));
}

Ref<Datatype> contiguous(int count, const Datatype& of) {
    Recipe recipe;
    recipe.combiner = MPI_COMBINER_CONTIGUOUS;
    recipe.integers = {count};
    recipe.types.push_back(share(of));
    return make(std::move(recipe));
}

Ref<Datatype> vector(int count, int length, int stride, const Datatype& of) {
    Recipe recipe;
    recipe.combiner = MPI_COMBINER_VECTOR;
    recipe.integers = {count, length, stride};
    recipe.types.push_back(share(of));
    return make(std::move(recipe));
}

// `first` values of one type at 0, and then `second` of another one at 64, in the order of the typemap.
Ref<Datatype> structure(int first, MPI_Datatype a, int second, MPI_Datatype b) {
    Recipe recipe;
    recipe.combiner = MPI_COMBINER_STRUCT;
    recipe.integers = {2, first, second};
    recipe.addresses = {0, 64};
    recipe.types.push_back(share(basic(a)));
    recipe.types.push_back(share(basic(b)));
    return make(std::move(recipe));
}

bool equal(const Signature& a, const Signature& b) {
    return a.matches(b) && b.matches(a);
}

TEST(Signature, IsAboutBasicTypesAndNotAboutTheLayout) {
    const Signature ints = Signature::of(basic(MPI_INT), 12);
    EXPECT_EQ(ints.elements, 12u);
    EXPECT_TRUE(equal(ints, Signature::of(*contiguous(12, basic(MPI_INT)), 1)));
    EXPECT_TRUE(equal(ints, Signature::of(*contiguous(3, basic(MPI_INT)), 4)));
    EXPECT_TRUE(equal(ints, Signature::of(*vector(3, 2, 5, basic(MPI_INT)), 2)));
    EXPECT_TRUE(equal(ints, Signature::of(*vector(2, 1, 2, *contiguous(3, basic(MPI_INT))), 2)));
    EXPECT_FALSE(equal(ints, Signature::of(basic(MPI_INT), 11)));
    EXPECT_FALSE(equal(ints, Signature::of(basic(MPI_FLOAT), 12)));
    EXPECT_FALSE(equal(ints, Signature::of(basic(MPI_BYTE), 48)));
}

TEST(Signature, HasTheOrderOfTheTypemap) {
    const Ref<Datatype> mixed = structure(1, MPI_INT, 1, MPI_DOUBLE);
    EXPECT_FALSE(equal(Signature::of(*mixed, 1), Signature::of(*structure(1, MPI_DOUBLE, 1, MPI_INT), 1)));
    // i d i d is not i i d d.
    EXPECT_FALSE(equal(Signature::of(*mixed, 2), Signature::of(*structure(2, MPI_INT, 2, MPI_DOUBLE), 1)));
    EXPECT_TRUE(equal(Signature::of(*mixed, 6), Signature::of(*contiguous(2, *mixed), 3)));
    EXPECT_TRUE(
        equal(Signature::of(basic(MPI_DOUBLE_INT), 1), Signature::of(*structure(1, MPI_DOUBLE, 1, MPI_INT), 1)));
}

TEST(Signature, OfAPrefixIsThatOfAShorterMessage) {
    const Ref<Datatype> mixed = structure(2, MPI_INT, 3, MPI_DOUBLE);
    const Ref<Datatype> rows = vector(4, 2, 3, *mixed);
    // Every message that ends between two values.
    const Signature whole = Signature::of(*rows, 3);
    EXPECT_EQ(whole.bytes, 3u * 8 * 32);
    for (std::uint64_t elements = 0; elements <= 24; ++elements) {
        EXPECT_TRUE(equal(Signature::of(*rows, 3, elements * 32), Signature::of(*mixed, MPI_Count(elements))))
            << elements;
    }
    const Signature first = Signature::of(*rows, 3, 32 + 4);
    EXPECT_EQ(first.elements, 6u);
    EXPECT_FALSE(equal(first, Signature::of(*rows, 3, 32 + 8)));
    // A message that ends inside a value was not sent as such.
    EXPECT_FALSE(equal(Signature::of(basic(MPI_INT), 4, 6), Signature::of(basic(MPI_INT), 1)));
    EXPECT_FALSE(equal(Signature::of(basic(MPI_INT), 4, 6), Signature::of(basic(MPI_INT), 2)));
    EXPECT_EQ(Signature::of(basic(MPI_INT), 0).elements, 0u);
}

TEST(Signature, OfManyElementsTakesNoTimeForEachOfThem) {
    const MPI_Count many = MPI_Count(1) << 40;
    const Ref<Datatype> mixed = structure(1, MPI_INT, 1, MPI_DOUBLE);
    EXPECT_TRUE(equal(Signature::of(*mixed, many), Signature::of(*contiguous(1 << 20, *mixed), 1 << 20)));
    EXPECT_EQ(Signature::of(basic(MPI_CHAR), many).text(), "1099511627776 MPI_CHAR");
}

TEST(Signature, PackedMatchesEverything) {
    EXPECT_TRUE(equal(Signature::of(basic(MPI_PACKED), 8), Signature::of(basic(MPI_DOUBLE), 1)));
    EXPECT_FALSE(equal(Signature::of(basic(MPI_BYTE), 8), Signature::of(basic(MPI_DOUBLE), 1)));
}

TEST(Signature, HasAText) {
    EXPECT_EQ(Signature::of(basic(MPI_INT), 0).text(), "no data");
    EXPECT_EQ(Signature::of(*vector(3, 2, 5, basic(MPI_INT)), 2).text(), "12 MPI_INT");
    EXPECT_EQ(Signature::of(*structure(2, MPI_INT, 3, MPI_DOUBLE), 1).text(), "2 MPI_INT, 3 MPI_DOUBLE");
    EXPECT_EQ(Signature::of(*structure(1, MPI_INT, 1, MPI_FLOAT), 5).text(), "1 MPI_INT, 1 MPI_FLOAT, 1 MPI_INT, ...");
    EXPECT_EQ(Signature::of(*structure(1, MPI_INT, 2, MPI_INT), 5).text(), "15 MPI_INT");
}

} // namespace
} // namespace patchbay::check
