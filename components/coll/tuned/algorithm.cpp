// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/tuned/algorithm.h"

#include <algorithm>
#include <array>
#include <bit>

namespace patchbay::coll::tuned {

namespace {

constexpr std::array<std::string_view, std::size_t(Algorithm::count)> names{"pass", "linear", "direct", "binomial",
    "doubling", "halves", "ring", "chain", "scatter_allgather", "bruck", "neighbour", "pairwise"};

} // namespace

std::string_view algorithm_name(Algorithm algorithm) noexcept {
    return names[std::size_t(algorithm)];
}

std::optional<Algorithm> algorithm_of(std::string_view name) noexcept {
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == name) {
            return Algorithm(i);
        }
    }
    return std::nullopt;
}

bool has_algorithm(Function function, Algorithm algorithm) noexcept {
    const std::string_view wanted = algorithm_name(algorithm);
    std::string_view rest = algorithm_choices(function);
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(','), rest.size());
        if (rest.substr(0, end) == wanted) {
            return true;
        }
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return false;
}

bool applies(Function function, Algorithm algorithm, int ranks, bool commutative) noexcept {
    switch (algorithm) {
    case Algorithm::doubling:
        return function != Function::allgather || std::has_single_bit(unsigned(ranks));
    case Algorithm::neighbour:
        return ranks % 2 == 0;
    case Algorithm::ring:
        return function != Function::allreduce || commutative;
    default:
        return true;
    }
}

} // namespace patchbay::coll::tuned
