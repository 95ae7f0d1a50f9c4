// SPDX-License-Identifier: BSD-3-Clause
#include "tests/datatype/random_type.h"

#include "object/datatype_arrays.h"
#include "tests/datatype/recipes.h"

#include <cstdlib>
#include <gtest/gtest.h>

namespace patchbay::test {
namespace {

constexpr std::size_t most_entries = 3000;

// Places `length` elements in a row from a displacement on.
void append_row(Typemap& map, const Typemap& part, MPI_Aint displacement, MPI_Count length) {
    const MPI_Aint extent = part.extent();
    for (MPI_Count i = 0; i < length; ++i) {
        map.append(part, displacement + i * extent);
    }
}

} // namespace

MPI_Aint TypeMaker::distance() {
    // Mostly aligned, as in programs; sometimes not.
    return number(0, 3) > 0 ? number(-6, 12) * 8 : number(-50, 100);
}

Sample TypeMaker::predefined() {
    static const MPI_Datatype handles[] = {
        MPI_CHAR,
        MPI_BYTE,
        MPI_SHORT,
        MPI_INT,
        MPI_INT,
        MPI_DOUBLE,
        MPI_DOUBLE,
        MPI_LONG,
        MPI_FLOAT_INT,
        MPI_DOUBLE_INT,
        MPI_SHORT_INT,
        MPI_LONG_DOUBLE,
        MPI_LONG_DOUBLE_INT,
        MPI_C_FLOAT_COMPLEX,
        MPI_C_DOUBLE_COMPLEX,
        MPI_C_BOOL,
        MPI_INTEGER16,
        MPI_2INT,
        MPI_WCHAR,
    };
    const MPI_Datatype handle = handles[number(0, std::size(handles) - 1)];
    return {Ref<Datatype>::share(to_object<Datatype>(handle)), Typemap::predefined(handle)};
}

Sample TypeMaker::contiguous(const Sample& old) {
    const MPI_Count count = number(0, 6);
    Sample made;
    append_row(made.map, old.map, 0, count);
    made.type = create(MPI_COMBINER_CONTIGUOUS, {count}, {old.type});
    return made;
}

Sample TypeMaker::vector(const Sample& old, bool in_bytes) {
    const MPI_Count count = number(0, 5);
    const MPI_Count length = number(0, 3);
    const MPI_Count stride = in_bytes ? distance() : number(-4, 6);
    const MPI_Aint bytes = in_bytes ? stride : stride * old.map.extent();
    Sample made;
    for (MPI_Count i = 0; i < count; ++i) {
        append_row(made.map, old.map, i * bytes, length);
    }
    const int combiner = in_bytes ? MPI_COMBINER_HVECTOR : MPI_COMBINER_VECTOR;
    made.type = create(combiner, {count, length, stride}, {old.type});
    return made;
}

// Sometimes with so many blocks that the library keeps a table of them, and sometimes with long blocks.
Sample TypeMaker::indexed(const Sample& old, bool in_bytes, bool same_length) {
    const std::size_t entries = old.map.entries().size();
    const bool small = entries < 12 && std::abs(old.map.extent()) < 400;
    const MPI_Count count = small && number(0, 2) == 0 ? number(6, 40) : number(0, 5);
    const MPI_Count longest = entries * static_cast<std::size_t>(count) < 50 && number(0, 4) == 0 ? 40 : 3;
    const MPI_Count common = number(0, longest);
    std::vector<MPI_Count> lengths;
    std::vector<MPI_Count> displacements;
    Sample made;
    for (MPI_Count i = 0; i < count; ++i) {
        lengths.push_back(same_length ? common : number(0, longest));
        displacements.push_back(in_bytes ? distance() : number(-count, 2 * count));
        append_row(made.map, old.map, displacements.back() * (in_bytes ? 1 : old.map.extent()), lengths.back());
    }
    std::vector<MPI_Count> counts{count};
    if (same_length) {
        counts.push_back(common);
    } else {
        counts.insert(counts.end(), lengths.begin(), lengths.end());
    }
    counts.insert(counts.end(), displacements.begin(), displacements.end());
    const int combiner = same_length ? (in_bytes ? MPI_COMBINER_HINDEXED_BLOCK : MPI_COMBINER_INDEXED_BLOCK)
                                     : (in_bytes ? MPI_COMBINER_HINDEXED : MPI_COMBINER_INDEXED);
    made.type = create(combiner, std::move(counts), {old.type});
    return made;
}

Sample TypeMaker::structure(int depth) {
    const MPI_Count count = number(0, 4);
    std::vector<MPI_Count> lengths;
    std::vector<MPI_Count> displacements;
    std::vector<Ref<Datatype>> types;
    Sample made;
    MPI_Aint end = 0;
    for (MPI_Count i = 0; i < count; ++i) {
        const Sample member = make(depth - 1);
        lengths.push_back(number(0, 2));
        // Members that follow each other without a gap are what programs have most.
        displacements.push_back(number(0, 1) == 0 ? distance() : end - member.map.true_lower_bound());
        types.push_back(member.type);
        append_row(made.map, member.map, displacements.back(), lengths.back());
        end = displacements.back() + lengths.back() * member.map.extent();
    }
    std::vector<MPI_Count> counts{count};
    counts.insert(counts.end(), lengths.begin(), lengths.end());
    counts.insert(counts.end(), displacements.begin(), displacements.end());
    made.type = create(MPI_COMBINER_STRUCT, std::move(counts), std::move(types));
    return made;
}

Sample TypeMaker::resized(const Sample& old) {
    const MPI_Aint lower = distance();
    const MPI_Aint extent = number(0, 5) == 0 ? -number(1, 40) : number(0, 10) * 8;
    Sample made{{}, old.map};
    made.map.set_bounds(lower, lower + extent);
    made.type = create(MPI_COMBINER_RESIZED, {lower, extent}, {old.type});
    return made;
}

Sample TypeMaker::renamed(const Sample& old) {
    Recipe recipe = large(MPI_COMBINER_DUP, {}, {old.type});
    recipe.large = false; // there is one form of MPI_Type_dup only
    return {create(std::move(recipe)), old.map};
}

Sample TypeMaker::subarray(const Sample& old) {
    const MPI_Count sizes[2] = {number(1, 4), number(1, 4)};
    const MPI_Count subsizes[2] = {number(1, sizes[0]), number(1, sizes[1])};
    const MPI_Count starts[2] = {number(0, sizes[0] - subsizes[0]), number(0, sizes[1] - subsizes[1])};
    const bool fortran = number(0, 1) == 1;
    const MPI_Aint extent = old.map.extent();
    const int slow = fortran ? 1 : 0;
    const int fast = 1 - slow;
    Sample made;
    for (MPI_Count i = starts[slow]; i < starts[slow] + subsizes[slow]; ++i) {
        append_row(made.map, old.map, (i * sizes[fast] + starts[fast]) * extent, subsizes[fast]);
    }
    made.map.set_bounds(0, sizes[0] * sizes[1] * extent);
    const int order = fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C;
    Recipe recipe = large(MPI_COMBINER_SUBARRAY, {}, {old.type});
    recipe.integers = {2, order};
    for (const MPI_Count* list : {sizes, subsizes, starts}) {
        recipe.counts.insert(recipe.counts.end(), list, list + 2);
    }
    EXPECT_EQ(make_subarray_body(sizes, subsizes, starts, order, *old.type, &recipe.body), MPI_SUCCESS);
    made.type = create(std::move(recipe));
    return made;
}

Sample TypeMaker::make(int depth) {
    if (depth == 0) {
        return predefined();
    }
    Sample made;
    do {
        switch (number(0, 11)) {
        case 0:
            made = contiguous(make(depth - 1));
            break;
        case 1:
            made = vector(make(depth - 1), false);
            break;
        case 2:
            made = vector(make(depth - 1), true);
            break;
        case 3:
            made = indexed(make(depth - 1), false, false);
            break;
        case 4:
            made = indexed(make(depth - 1), true, false);
            break;
        case 5:
            made = indexed(make(depth - 1), false, true);
            break;
        case 6:
            made = indexed(make(depth - 1), true, true);
            break;
        case 7:
            made = resized(make(depth - 1));
            break;
        case 8:
            made = renamed(make(depth - 1));
            break;
        case 9:
            made = subarray(make(depth - 1));
            break;
        default:
            made = structure(depth);
            break;
        }
    } while (made.map.entries().size() > most_entries || std::abs(made.map.extent()) > 200000 ||
        std::abs(made.map.true_lower_bound()) > 200000);
    EXPECT_EQ(made.type->commit(), MPI_SUCCESS);
    return made;
}

} // namespace patchbay::test
