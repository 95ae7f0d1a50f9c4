// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/tuned/candidates.h"

#include <algorithm>

namespace patchbay::coll::tuned {

namespace {

constexpr std::uint64_t operator""_KiB(unsigned long long value) noexcept {
    return value << 10;
}

// Whether one rank, which has everything that the algorithm moves in its memory, could be too small for that.
bool is_out_of_proportion(Function function, Algorithm algorithm, int ranks, std::uint64_t bytes) noexcept {
    const std::uint64_t all = bytes * std::uint64_t(ranks);
    switch (algorithm) {
    case Algorithm::linear:
        if (function == Function::allgather || function == Function::alltoall) {
            return ranks > 64 || all * std::uint64_t(ranks) > 4096_KiB;
        }
        return function != Function::scan && function != Function::exscan && ranks > 64;
    case Algorithm::direct:
        return function == Function::allreduce && (ranks > 64 || all > 4096_KiB);
    case Algorithm::bruck:
        return all > 1024_KiB;
    default:
        return false;
    }
}

} // namespace

Candidates::Candidates(
    Function function, const Choice& first, int ranks, std::uint64_t bytes, bool commutative, bool can_pass) noexcept {
    add(first);
    for (std::size_t i = 0; i < std::size_t(Algorithm::count); ++i) {
        const auto algorithm = Algorithm(i);
        const bool has = algorithm == Algorithm::pass ? can_pass : has_algorithm(function, algorithm);
        if (has && applies(function, algorithm, ranks, commutative) &&
            !is_out_of_proportion(function, algorithm, ranks, bytes)) {
            add_algorithm(function, algorithm, ranks, bytes, commutative);
        }
    }
}

void Candidates::add_algorithm(
    Function function, Algorithm algorithm, int ranks, std::uint64_t bytes, bool commutative) noexcept {
    static constexpr std::array<std::size_t, 3> of_chain{16_KiB, 64_KiB, 256_KiB};
    static constexpr std::array<std::size_t, 3> of_joined{0, 16_KiB, 256_KiB};
    if (algorithm == Algorithm::chain) {
        return add_segments(algorithm, of_chain, bytes); // one segment is what linear or binomial does
    }
    const bool in_segments = (function == Function::reduce && algorithm == Algorithm::binomial) ||
        (algorithm == Algorithm::halves && commutative);
    if (in_segments) {
        return add_segments(algorithm, of_joined, bytes);
    }
    add({algorithm});
    const bool has_radix = (function == Function::allreduce && algorithm == Algorithm::doubling && bytes <= 64_KiB) ||
        algorithm == Algorithm::bruck;
    for (int radix = 4; has_radix && radix <= std::min(ranks, 8); radix *= 2) {
        add({algorithm, 0, radix});
    }
}

void Candidates::add_segments(
    Algorithm algorithm, std::span<const std::size_t> segments, std::uint64_t bytes) noexcept {
    for (const std::size_t segment : segments) {
        if (segment < bytes || segment == 0) {
            add({algorithm, segment});
        }
    }
}

void Candidates::add(const Choice& choice) noexcept {
    const auto end = _choices.begin() + std::ptrdiff_t(_count);
    if (_count < most && std::find(_choices.begin(), end, choice) == end) {
        _choices[_count++] = choice;
    }
}

} // namespace patchbay::coll::tuned
