// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/datatype.h"

#include <cstddef>
#include <cstdint>

namespace patchbay::check {

// The memory of a buffer; at the target of a one-sided operation `buffer` is a number of bytes instead of an address.
struct MemoryRange {
    const void* buffer;
    MPI_Count count;
    const Datatype* type;

    // From the first to the last byte of data. False: there is none.
    bool bounds(std::uintptr_t* begin, std::uintptr_t* end) const noexcept;
};

// The number of bytes that two buffers have in common; 0 where they have too many blocks to compare. May throw
// std::bad_alloc.
std::size_t shared_bytes(const MemoryRange& first, const MemoryRange& second);

} // namespace patchbay::check
