// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/datatype.h"

#include <span>
#include <type_traits>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

// How a datatype was made: the constructor and its arguments, in the order in which MPI_Type_get_contents gives them
// back (MPI-5.0, 5.1.13). The only description a type keeps; bounds and layouts are derived from it.
struct Recipe {
    int combiner = MPI_COMBINER_NAMED;
    bool large = false; // made by a constructor with MPI_Count arguments: those are in `counts`
    std::vector<int> integers;
    std::vector<MPI_Aint> addresses;
    std::vector<MPI_Count> counts;
    std::vector<Ref<Datatype>> types;
    // What the type consists of where that is not simply its components: array types are made of vectors inside.
    Ref<Datatype> body;

    // The component whose data, at the same places, is all there is in this type; only bounds may differ.
    const Datatype* same_data() const noexcept {
        const bool renamed = combiner == MPI_COMBINER_DUP || combiner == MPI_COMBINER_RESIZED;
        return body ? body.get() : renamed ? types.front().get() : nullptr;
    }

    // Arguments that are int or MPI_Count by constructor, and those that are MPI_Aint or MPI_Count.
    void add_count(int value) { integers.push_back(value); }
    void add_count(MPI_Count value) { counts.push_back(value); }
    template <class Count>
    void add_counts(std::span<const Count> values) {
        if constexpr (std::is_same_v<Count, int>) {
            integers.insert(integers.end(), values.begin(), values.end());
        } else {
            counts.insert(counts.end(), values.begin(), values.end());
        }
    }
    void add_address(MPI_Aint value) { (large ? counts : addresses).push_back(value); }
    void add_addresses(std::span<const MPI_Aint> values) {
        auto& target = large ? counts : addresses;
        target.insert(target.end(), values.begin(), values.end());
    }

    // The i-th of the counts; the i-th address, `skip` counts precede the addresses of a large constructor.
    MPI_Count count(std::size_t i) const noexcept { return large ? counts[i] : integers[i]; }
    MPI_Aint address(std::size_t i, std::size_t skip) const noexcept { return large ? counts[skip + i] : addresses[i]; }
};

// Wide enough for every product of two arguments, so that a type that does not fit is found and not wrapped.
using Wide = __int128;

// A part of a typemap: `length` elements in a row, and that `repeat` times, `stride` bytes apart.
struct Piece {
    Wide displacement = 0;
    MPI_Count repeat = 1;
    Wide stride = 0;
    MPI_Count length = 1;
    const Datatype* type = nullptr;
};

// Calls visit(piece) for each piece of a derived type in the order of its typemap. Empty pieces (no elements) come too.
template <class Visit>
void for_each_piece(const Recipe& recipe, Visit&& visit) {
    if (const Datatype* same = recipe.same_data()) {
        visit(Piece{.type = same});
        return;
    }
    const Datatype* type = recipe.types.empty() ? nullptr : recipe.types.front().get();
    const MPI_Count n = recipe.count(0);
    const auto blocks = static_cast<std::size_t>(n);
    switch (recipe.combiner) {
    case MPI_COMBINER_CONTIGUOUS:
        visit(Piece{.length = n, .type = type});
        return;
    case MPI_COMBINER_VECTOR:
        visit(Piece{
            .repeat = n, .stride = Wide(recipe.count(2)) * type->extent, .length = recipe.count(1), .type = type});
        return;
    case MPI_COMBINER_HVECTOR:
        visit(Piece{.repeat = n, .stride = recipe.address(0, 2), .length = recipe.count(1), .type = type});
        return;
    case MPI_COMBINER_INDEXED:
        for (std::size_t i = 0; i < blocks; ++i) {
            const Wide displacement = Wide(recipe.count(1 + blocks + i)) * type->extent;
            visit(Piece{.displacement = displacement, .length = recipe.count(1 + i), .type = type});
        }
        return;
    case MPI_COMBINER_HINDEXED:
        for (std::size_t i = 0; i < blocks; ++i) {
            const MPI_Aint displacement = recipe.address(i, 1 + blocks);
            visit(Piece{.displacement = displacement, .length = recipe.count(1 + i), .type = type});
        }
        return;
    case MPI_COMBINER_INDEXED_BLOCK:
        for (std::size_t i = 0; i < blocks; ++i) {
            const Wide displacement = Wide(recipe.count(2 + i)) * type->extent;
            visit(Piece{.displacement = displacement, .length = recipe.count(1), .type = type});
        }
        return;
    case MPI_COMBINER_HINDEXED_BLOCK:
        for (std::size_t i = 0; i < blocks; ++i) {
            visit(Piece{.displacement = recipe.address(i, 2), .length = recipe.count(1), .type = type});
        }
        return;
    case MPI_COMBINER_STRUCT:
        for (std::size_t i = 0; i < blocks; ++i) {
            const MPI_Aint displacement = recipe.address(i, 1 + blocks);
            visit(Piece{.displacement = displacement, .length = recipe.count(1 + i), .type = recipe.types[i].get()});
        }
        return;
    }
}

} // namespace patchbay
