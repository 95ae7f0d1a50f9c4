// SPDX-License-Identifier: BSD-3-Clause
#include "components/osc/pt2pt/memory_map.h"

#include "components/common/every_block.h"
#include "object/recipe.h"

#include <new>

namespace patchbay::osc::pt2pt {

void MemoryMap::set_fixed(void* base, std::uint64_t bytes) noexcept {
    _fixed = true;
    _base = reinterpret_cast<std::uintptr_t>(base);
    _bytes = bytes;
}

int MemoryMap::attach(void* base, std::uint64_t bytes) noexcept {
    try {
        const std::uint64_t from = reinterpret_cast<std::uintptr_t>(base);
        if (bytes > 0) { // a region without bytes may lie where another one begins
            _regions[from] = from + bytes;
        }
        return MPI_SUCCESS;
    } catch (const std::bad_alloc&) {
        return MPI_ERR_RMA_ATTACH;
    }
}

void MemoryMap::detach(void* base) noexcept {
    _regions.erase(reinterpret_cast<std::uintptr_t>(base));
}

int MemoryMap::find(std::uint64_t place, MPI_Count count, const Datatype& type, std::byte** buffer) const noexcept {
    const Wide across = Wide(type.extent) * (count - 1);
    const Wide low = Wide(place) + type.true_lower_bound + (across < 0 ? across : 0);
    const Wide high = Wide(place) + type.true_lower_bound + type.true_extent + (across > 0 ? across : 0);
    const bool has_range = low >= 0 && high <= Wide(UINT64_MAX);
    *buffer = reinterpret_cast<std::byte*>(_base + place);
    if (_fixed) {
        return has_range && high <= Wide(_bytes) ? MPI_SUCCESS : MPI_ERR_RMA_RANGE;
    }
    const auto is_exposed = [this](std::uint64_t at, std::uint64_t bytes) {
        return bytes <= UINT64_MAX - at && covers(at, at + bytes);
    };
    const bool exposed = (has_range && covers(std::uint64_t(low), std::uint64_t(high))) ||
        (!type.dense && common::every_block(Convertor(type, count, *buffer), is_exposed));
    return exposed ? MPI_SUCCESS : MPI_ERR_RMA_RANGE;
}

// Adjacent regions are exposed together.
bool MemoryMap::covers(std::uint64_t from, std::uint64_t to) const noexcept {
    while (from < to) {
        const auto next = _regions.upper_bound(from);
        if (next == _regions.begin()) {
            return false;
        }
        const std::uint64_t end = std::prev(next)->second;
        if (end <= from) {
            return false;
        }
        from = end;
    }
    return true;
}

} // namespace patchbay::osc::pt2pt
