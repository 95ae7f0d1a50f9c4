// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/datatype_basic.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace patchbay::test {

// A datatype as the standard defines it: a list of (basic type, displacement), and bounds where they were set by
// hand. Slow and simple on purpose; it shares nothing with the library but the table of predefined types.
class Typemap {
public:
    struct Entry {
        BasicIndex basic;
        MPI_Aint displacement;
    };

    static Typemap predefined(MPI_Datatype handle);
    // Copies of `part` at each of the displacements, in order, behind what is there.
    void append(const Typemap& part, std::span<const MPI_Aint> displacements);
    void append(const Typemap& part, MPI_Aint displacement) { append(part, {&displacement, 1}); }
    void set_bounds(MPI_Aint lower, MPI_Aint upper);

    MPI_Aint size() const;
    MPI_Aint lower_bound() const;
    MPI_Aint upper_bound() const;
    MPI_Aint extent() const { return upper_bound() - lower_bound(); }
    MPI_Aint true_lower_bound() const;
    MPI_Aint true_upper_bound() const;
    // Every entry begins where the one before ends, and the next element where this one ends.
    bool dense() const;
    const std::vector<Entry>& entries() const { return _entries; }
    // Of the bytes of `count` elements, in order: the offset of each from the buffer's address.
    std::vector<MPI_Aint> byte_offsets(MPI_Aint count) const;

private:
    MPI_Aint alignment() const;

    std::vector<Entry> _entries;
    std::optional<MPI_Aint> _lower;
    std::optional<MPI_Aint> _upper;
};

} // namespace patchbay::test
