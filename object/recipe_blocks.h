// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/recipe.h"

#include <cstddef>

namespace patchbay {

// The length of each block of MPI_Type_create_indexed_block, which gives one for all.
struct OneLength {
    MPI_Count value;
    MPI_Count operator[](std::size_t) const noexcept { return value; }
};
// The component of each block, which only the blocks of MPI_Type_create_struct have for themselves.
struct OneComponent {
    const Datatype* type;
    const Datatype& operator[](std::size_t) const noexcept { return *type; }
};
struct Components {
    const Ref<Datatype>* types;
    const Datatype& operator[](std::size_t i) const noexcept { return *types[i]; }
};

// The blocks of a recipe, as the program has given them: lists of int or of MPI_Count. A loop over them has no case
// distinction inside, and for_each_piece() has several for each block.
template <class Lengths, class Places, class Types>
struct BlockLists {
    std::size_t count;
    Lengths lengths; // elements of the component
    Places places;
    MPI_Aint scale; // bytes of which a place is a multiple
    Types types;
};

// Calls visit(BlockLists) for a recipe whose combiner gives lists of blocks, and returns its result. For all other
// recipes it returns false.
template <class Visit>
bool with_blocks(const Recipe& recipe, Visit&& visit) {
    static_assert(std::is_same_v<MPI_Aint, MPI_Count>);
    if (recipe.same_data() != nullptr || recipe.types.empty()) {
        return false;
    }
    const auto call = [&](auto lengths, auto places, MPI_Aint scale, auto types) {
        using Lists = BlockLists<decltype(lengths), decltype(places), decltype(types)>;
        return visit(Lists{recipe.pieces(), lengths, places, scale, types});
    };
    const OneComponent one{recipe.types.front().get()};
    const Components each{recipe.types.data()};
    const std::size_t n = recipe.pieces();
    const int* const few = recipe.integers.data();
    const MPI_Aint* const addresses = recipe.addresses.data();
    const MPI_Count* const many = recipe.counts.data();
    const bool large = recipe.large;
    switch (recipe.combiner) {
    case MPI_COMBINER_INDEXED:
        return large ? call(many + 1, many + 1 + n, one.type->extent, one)
                     : call(few + 1, few + 1 + n, one.type->extent, one);
    case MPI_COMBINER_HINDEXED:
        return large ? call(many + 1, many + 1 + n, 1, one) : call(few + 1, addresses, 1, one);
    case MPI_COMBINER_INDEXED_BLOCK:
        return large ? call(OneLength{many[1]}, many + 2, one.type->extent, one)
                     : call(OneLength{few[1]}, few + 2, one.type->extent, one);
    case MPI_COMBINER_HINDEXED_BLOCK:
        return large ? call(OneLength{many[1]}, many + 2, 1, one) : call(OneLength{few[1]}, addresses, 1, one);
    case MPI_COMBINER_STRUCT:
        return large ? call(many + 1, many + 1 + n, 1, each) : call(few + 1, addresses, 1, each);
    default:
        return false;
    }
}

} // namespace patchbay
