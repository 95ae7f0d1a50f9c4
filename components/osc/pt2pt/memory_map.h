// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/datatype.h"

#include <cstddef>
#include <cstdint>
#include <map>

namespace patchbay::osc::pt2pt {

// The memory that this process exposes in one window: one region, or in a dynamic window those that are attached. The
// caller serialises the calls.
class MemoryMap {
public:
    // `base`, to which places are relative; in a dynamic window they are addresses.
    void set_fixed(void* base, std::uint64_t bytes) noexcept;

    // MPI_ERR_RMA_ATTACH: no memory.
    int attach(void* base, std::uint64_t bytes) noexcept;
    void detach(void* base) noexcept;

    // *buffer becomes the buffer address of `count` elements of `type` at `place`, which is null where the type has
    // absolute displacements. The elements have data. MPI_ERR_RMA_RANGE: some of their bytes are not exposed; no cause
    // is stored.
    int find(std::uint64_t place, MPI_Count count, const Datatype& type, std::byte** buffer) const noexcept;

private:
    bool covers(std::uint64_t from, std::uint64_t to) const noexcept;

    bool _fixed = false;
    std::uint64_t _base = 0;
    std::uint64_t _bytes = 0;
    std::map<std::uint64_t, std::uint64_t> _regions; // the end of each, by its beginning
};

} // namespace patchbay::osc::pt2pt
