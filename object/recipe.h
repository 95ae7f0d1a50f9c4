// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/datatype.h"

#include <span>
#include <type_traits>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

// The combiner of a type that no program can construct: the body of an array type. `counts` are a displacement and an
// extent, which with 0 are the bounds of the type, and then the loops from the innermost one on: count and stride.
inline constexpr int combiner_loops = -1;

// The constructor of a datatype and its arguments, in the order of MPI_Type_get_contents (MPI-5.0, 5.1.13). A datatype
// stores no other description; bounds and layouts are derived from this one.
struct Recipe {
    int combiner = MPI_COMBINER_NAMED;
    bool large = false; // whether the constructor has MPI_Count arguments, which are in `counts`
    std::vector<int> integers;
    std::vector<MPI_Aint> addresses;
    std::vector<MPI_Count> counts;
    std::vector<Ref<Datatype>> types;
    // The data of an array type, of one combiner_loops or of several nested types; null for all other combiners.
    Ref<Datatype> body;

    // The type whose data is the same as the data of this type, at the same displacements; only the bounds may differ.
    // nullptr: there is none.
    const Datatype* same_data() const noexcept {
        const bool renamed = combiner == MPI_COMBINER_DUP || combiner == MPI_COMBINER_RESIZED;
        return body ? body.get() : renamed ? types.front().get() : nullptr;
    }

    // The types of whose layouts the layout of this one is made.
    std::span<const Ref<Datatype>> components() const noexcept {
        return body ? std::span(&body, 1) : std::span<const Ref<Datatype>>(types);
    }

    // As many as for_each_piece() visits.
    std::size_t pieces() const noexcept {
        switch (combiner) {
        case MPI_COMBINER_INDEXED:
        case MPI_COMBINER_HINDEXED:
        case MPI_COMBINER_INDEXED_BLOCK:
        case MPI_COMBINER_HINDEXED_BLOCK:
        case MPI_COMBINER_STRUCT:
            return static_cast<std::size_t>(count(0));
        default:
            return 1;
        }
    }

    // Before as many calls of the functions below; `large` is set.
    void reserve(std::size_t count_values, std::size_t address_values) {
        if (large) {
            counts.reserve(count_values + address_values);
        } else {
            integers.reserve(count_values);
            addresses.reserve(address_values);
        }
    }
    // Append arguments: counts are int or MPI_Count, and addresses are MPI_Aint or MPI_Count, according to the
    // constructor.
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

    // The i-th count, and the i-th address. In the list of a large constructor `skip` counts precede the addresses.
    MPI_Count count(std::size_t i) const noexcept { return large ? counts[i] : integers[i]; }
    MPI_Aint address(std::size_t i, std::size_t skip) const noexcept { return large ? counts[skip + i] : addresses[i]; }
};

// Holds every product of two arguments without overflow, so that a type that is too large is detected.
using Wide = __int128;

// A part of a typemap: `repeat` blocks, `stride` bytes apart, of `length` consecutive elements each. `loops`: pairs of
// a count and a stride, by which all of that is repeated, the innermost pair first.
struct Piece {
    Wide displacement = 0;
    MPI_Count repeat = 1;
    Wide stride = 0;
    MPI_Count length = 1;
    const Datatype* type = nullptr;
    std::span<const MPI_Count> loops = {};

    bool is_empty() const noexcept {
        bool empty = length == 0 || repeat == 0;
        for (std::size_t i = 0; i < loops.size(); i += 2) {
            empty = empty || loops[i] == 0;
        }
        return empty;
    }
};

// Calls visit(piece) for each piece of a derived type in the order of its typemap, including pieces without elements.
template <class Visit>
void for_each_piece(const Recipe& recipe, Visit&& visit) {
    if (const Datatype* same = recipe.same_data()) {
        visit(Piece{.type = same});
        return;
    }
    const Datatype* type = recipe.types.empty() ? nullptr : recipe.types.front().get();
    const MPI_Count n = recipe.count(0); // the number of blocks, where there are several
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
    case combiner_loops:
        visit(Piece{.displacement = recipe.counts[0], .type = type, .loops = std::span(recipe.counts).subspan(2)});
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
