// SPDX-License-Identifier: BSD-3-Clause
#include "object/recipe_check.h"

#include "object/datatype_arrays.h"

#include <algorithm>
#include <limits>

namespace patchbay {
namespace {

using std::size_t;

// The numbers of arguments that a constructor has: counts (in `integers`, or in `counts` of a large one), addresses (in
// `addresses`, or in `counts`), and types.
bool has_arguments(const Recipe& recipe, size_t counts, size_t addresses, size_t types) {
    return recipe.types.size() == types &&
        (recipe.large
                ? recipe.integers.empty() && recipe.addresses.empty() && recipe.counts.size() == counts + addresses
                : recipe.integers.size() == counts && recipe.addresses.size() == addresses && recipe.counts.empty());
}

// The first count: a number of blocks, for each of which there are other arguments. 0 where it is not possible.
size_t blocks_of(const Recipe& recipe) {
    const size_t have = recipe.large ? recipe.counts.size() : recipe.integers.size();
    const MPI_Count n = have > 0 ? recipe.count(0) : 0;
    return n >= 0 && size_t(n) <= have + recipe.addresses.size() ? size_t(n) : 0;
}

// The same, for a constructor whose first count is the number of blocks.
bool has_blocks(const Recipe& recipe, size_t counts, size_t addresses, size_t types) {
    return has_arguments(recipe, counts, addresses, types) && recipe.count(0) == MPI_Count(blocks_of(recipe));
}

bool not_negative(const Recipe& recipe, size_t from, size_t count) {
    for (size_t i = from; i < from + count; ++i) {
        if (recipe.count(i) < 0) {
            return false;
        }
    }
    return true;
}

bool is_order(int order) {
    return order == MPI_ORDER_C || order == MPI_ORDER_FORTRAN;
}

bool is_valid_subarray(const Recipe& recipe) {
    if (recipe.integers.empty() || recipe.types.size() != 1 || !recipe.addresses.empty() || recipe.integers[0] < 1) {
        return false;
    }
    const auto n = size_t(recipe.integers[0]);
    const bool complete = recipe.large ? recipe.integers.size() == 2 && recipe.counts.size() == 3 * n
                                       : recipe.integers.size() == 3 * n + 2 && recipe.counts.empty();
    if (!complete || !is_order(recipe.integers.back())) {
        return false;
    }
    for (size_t i = 0; i < n; ++i) {
        const auto argument = [&](size_t list) {
            return recipe.large ? recipe.counts[list * n + i] : recipe.integers[1 + list * n + i];
        };
        const MPI_Count size = argument(0), subsize = argument(1), start = argument(2);
        if (size < 1 || subsize < 1 || subsize > size || start < 0 || start > size - subsize) {
            return false;
        }
    }
    return true;
}

// The numbers of a darray: size, rank, dimensions, sizes of the array (large: in `counts`), distributions, arguments,
// processes, order.
std::vector<DistributedDimension> dimensions_of(const Recipe& recipe) {
    const auto n = size_t(recipe.integers[2]);
    const size_t after_sizes = recipe.large ? 3 : 3 + n;
    std::vector<DistributedDimension> dimensions;
    for (size_t i = 0; i < n; ++i) {
        const int* rest = recipe.integers.data() + after_sizes + i;
        dimensions.push_back({recipe.large ? recipe.counts[i] : recipe.integers[3 + i], rest[0], rest[n], rest[2 * n]});
    }
    return dimensions;
}

bool is_valid(const DistributedDimension& d) {
    if (d.size < 1 || d.processes < 1) {
        return false;
    }
    if (d.distribution == MPI_DISTRIBUTE_NONE) {
        return d.processes == 1;
    }
    if ((d.distribution != MPI_DISTRIBUTE_BLOCK && d.distribution != MPI_DISTRIBUTE_CYCLIC) ||
        (d.argument != MPI_DISTRIBUTE_DFLT_DARG && d.argument < 1)) {
        return false;
    }
    if (d.distribution == MPI_DISTRIBUTE_BLOCK) {
        return d.block() > (d.size - 1) / d.processes;
    }
    return Wide(d.block()) * d.processes <= std::numeric_limits<MPI_Count>::max();
}

bool is_valid_darray(const Recipe& recipe) {
    if (recipe.integers.size() < 3 || recipe.types.size() != 1 || !recipe.addresses.empty() || recipe.integers[2] < 1) {
        return false;
    }
    const auto n = size_t(recipe.integers[2]);
    const bool complete = recipe.large ? recipe.integers.size() == 3 * n + 4 && recipe.counts.size() == n
                                       : recipe.integers.size() == 4 * n + 4 && recipe.counts.empty();
    if (!complete || !is_order(recipe.integers.back())) {
        return false;
    }
    MPI_Count processes = 1;
    const MPI_Count size = recipe.integers[0];
    for (const DistributedDimension& d : dimensions_of(recipe)) {
        if (!is_valid(d) || (processes *= d.processes) > size) {
            return false;
        }
    }
    return processes == size && recipe.integers[1] >= 0 && recipe.integers[1] < size;
}

int add_subarray_body(Recipe& recipe) {
    const auto n = size_t(recipe.integers[0]);
    std::vector<MPI_Count> lists;
    if (recipe.large) {
        lists = recipe.counts;
    } else {
        lists.assign(recipe.integers.begin() + 1, recipe.integers.end() - 1);
    }
    const std::span<const MPI_Count> all(lists);
    return make_subarray_body(all.first(n), all.subspan(n, n), all.subspan(2 * n, n), recipe.integers.back(),
        *recipe.types.front(), &recipe.body);
}

} // namespace

bool is_valid(const Recipe& recipe) noexcept {
    const size_t n = blocks_of(recipe);
    switch (recipe.combiner) {
    case MPI_COMBINER_DUP:
        return has_arguments(recipe, 0, 0, 1) && !recipe.large;
    case MPI_COMBINER_CONTIGUOUS:
        return has_arguments(recipe, 1, 0, 1) && not_negative(recipe, 0, 1);
    case MPI_COMBINER_VECTOR:
        return has_arguments(recipe, 3, 0, 1) && not_negative(recipe, 0, 2);
    case MPI_COMBINER_HVECTOR:
        return has_arguments(recipe, 2, 1, 1) && not_negative(recipe, 0, 2);
    case MPI_COMBINER_INDEXED:
        return has_blocks(recipe, 1 + 2 * n, 0, 1) && not_negative(recipe, 0, 1 + n);
    case MPI_COMBINER_HINDEXED:
        return has_blocks(recipe, 1 + n, n, 1) && not_negative(recipe, 0, 1 + n);
    case MPI_COMBINER_INDEXED_BLOCK:
        return has_blocks(recipe, 2 + n, 0, 1) && not_negative(recipe, 0, 2);
    case MPI_COMBINER_HINDEXED_BLOCK:
        return has_blocks(recipe, 2, n, 1) && not_negative(recipe, 0, 2);
    case MPI_COMBINER_STRUCT:
        return has_blocks(recipe, 1 + n, n, n) && not_negative(recipe, 0, 1 + n);
    case MPI_COMBINER_RESIZED:
        return has_arguments(recipe, 0, 2, 1);
    case MPI_COMBINER_SUBARRAY:
        return is_valid_subarray(recipe);
    case MPI_COMBINER_DARRAY:
        return is_valid_darray(recipe);
    default:
        return false;
    }
}

int add_body(Recipe& recipe) {
    if (recipe.combiner == MPI_COMBINER_SUBARRAY) {
        return add_subarray_body(recipe);
    }
    if (recipe.combiner != MPI_COMBINER_DARRAY) {
        return MPI_SUCCESS;
    }
    std::vector<DistributedDimension> dimensions = dimensions_of(recipe);
    set_grid_coordinates(dimensions, recipe.integers[1]);
    return make_darray_body(dimensions, recipe.integers.back(), *recipe.types.front(), &recipe.body);
}

} // namespace patchbay
