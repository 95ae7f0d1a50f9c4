// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/datatype.h"

#include <array>
#include <cstdint>
#include <string>

namespace patchbay::check {

// The type signature of some data (MPI-5.0, 3.3.1): the sequence of its basic types, in whatever layout. Plain data,
// which can be sent in a message. The sequence is represented by a hash that follows from the hashes of its parts, so
// that (2, pair of ints) and (4, int) have the same one, and that it takes no time in proportion to the count.
struct Signature {
    struct Run {
        std::uint64_t count = 0;
        std::uint64_t type = 0; // BasicIndex
    };

    std::uint64_t hash = 0;
    std::uint64_t elements = 0; // values of basic types
    std::uint64_t bytes = 0;
    std::uint64_t run_count = 0; // of `runs`
    std::uint64_t more = 0;      // whether the sequence is longer than `runs`
    std::array<Run, 3> runs{};   // the beginning of the sequence, for texts

    // Of the first `bytes` bytes of `count` elements. May throw std::bad_alloc.
    static Signature of(const Datatype& type, MPI_Count count, std::uint64_t bytes = UINT64_MAX);

    // Whether data with this signature may be sent where the other one is expected. MPI_PACKED matches everything.
    bool matches(const Signature& other) const noexcept {
        return (hash == other.hash && elements == other.elements) || is_packed() || other.is_packed();
    }
    bool is_packed() const noexcept;
    // "4 MPI_INT, 1 MPI_DOUBLE".
    std::string text() const;
};

} // namespace patchbay::check
