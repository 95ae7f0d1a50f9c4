// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/coll/tuned/algorithm.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace patchbay::coll::tuned {

// The choices that are worth timing for one operation: the decision table's at first, then every other algorithm that
// applies, with the segments and radices that may serve. Those are left out that need memory or messages out of
// proportion, so that a trial cannot take much longer than the operation.
class Candidates {
public:
    // `bytes` as in the decision table. `can_pass`: another component has the function. All of it is equal in all
    // members.
    Candidates(Function function, const Choice& first, int ranks, std::uint64_t bytes, bool commutative,
        bool can_pass) noexcept;

    std::span<const Choice> choices() const noexcept { return {_choices.data(), _count}; }

private:
    static constexpr std::size_t most = 16;

    void add(const Choice& choice) noexcept;
    void add_segments(Algorithm algorithm, std::span<const std::size_t> segments, std::uint64_t bytes) noexcept;
    void add_algorithm(
        Function function, Algorithm algorithm, int ranks, std::uint64_t bytes, bool commutative) noexcept;

    std::array<Choice, most> _choices{};
    std::size_t _count = 0;
};

} // namespace patchbay::coll::tuned
