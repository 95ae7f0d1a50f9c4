// SPDX-License-Identifier: BSD-3-Clause
#include "components/osc/sm/dynamic.h"

#include "components/common/every_block.h"
#include "object/error_cause.h"
#include "object/recipe.h"

#include <new>

namespace patchbay::osc::sm {

int AttachedMemory::attach(void* base, std::uint64_t bytes) noexcept {
    try {
        const std::lock_guard lock(_mutex);
        const std::uint64_t from = reinterpret_cast<std::uintptr_t>(base);
        _regions[from] = from + bytes;
        return MPI_SUCCESS;
    } catch (const std::bad_alloc&) {
        return note_cause(MPI_ERR_RMA_ATTACH, "osc/sm: no memory for a region of a dynamic window");
    }
}

void AttachedMemory::detach(void* base) noexcept {
    const std::lock_guard lock(_mutex);
    _regions.erase(reinterpret_cast<std::uintptr_t>(base));
}

int AttachedMemory::check(std::uint64_t place, MPI_Count count, const Datatype& type) const noexcept {
    const Wide across = Wide(type.extent) * (count - 1);
    const Wide low = Wide(place) + type.true_lower_bound + (across < 0 ? across : 0);
    const Wide high = Wide(place) + type.true_lower_bound + type.true_extent + (across > 0 ? across : 0);
    if (low >= 0 && high <= Wide(UINT64_MAX) && covers(std::uint64_t(low), std::uint64_t(high))) {
        return MPI_SUCCESS;
    }
    const Convertor places(type, count, reinterpret_cast<const void*>(place));
    if (!type.dense && common::every_block(places, [this](auto at, auto bytes) {
            return bytes <= UINT64_MAX - at && covers(at, at + bytes);
        })) {
        return MPI_SUCCESS;
    }
    return note_cause(MPI_ERR_RMA_RANGE, "the operation accesses memory that is not attached to the window");
}

// Adjacent regions are exposed together.
bool AttachedMemory::covers(std::uint64_t from, std::uint64_t to) const noexcept {
    const std::lock_guard lock(_mutex);
    while (from < to) {
        const auto next = _regions.upper_bound(from);
        if (next == _regions.begin() || std::prev(next)->second <= from) {
            return false;
        }
        from = std::prev(next)->second;
    }
    return true;
}

int DynamicSm::put(const Origin& origin, const Target& target, Request** request) noexcept {
    const int code = check(target);
    return code != MPI_SUCCESS ? code : Sm::put(origin, target, request);
}

int DynamicSm::get(const Fetched& result, const Target& target, Request** request) noexcept {
    const int code = check(target);
    return code != MPI_SUCCESS ? code : Sm::get(result, target, request);
}

int DynamicSm::accumulate(const Origin& origin, const Target& target, const Op& op, Request** request) noexcept {
    const int code = check(target);
    return code != MPI_SUCCESS ? code : Sm::accumulate(origin, target, op, request);
}

int DynamicSm::get_accumulate(
    const Origin& origin, const Fetched& result, const Target& target, const Op& op, Request** request) noexcept {
    const int code = check(target);
    return code != MPI_SUCCESS ? code : Sm::get_accumulate(origin, result, target, op, request);
}

int DynamicSm::fetch_and_op(
    const void* origin, void* result, const Datatype& type, int rank, std::uint64_t place, const Op& op) noexcept {
    const int code = check({rank, place, 1, &type});
    return code != MPI_SUCCESS ? code : Sm::fetch_and_op(origin, result, type, rank, place, op);
}

int DynamicSm::compare_and_swap(const void* origin, const void* compare, void* result, const Datatype& type, int rank,
    std::uint64_t place) noexcept {
    const int code = check({rank, place, 1, &type});
    return code != MPI_SUCCESS ? code : Sm::compare_and_swap(origin, compare, result, type, rank, place);
}

} // namespace patchbay::osc::sm
