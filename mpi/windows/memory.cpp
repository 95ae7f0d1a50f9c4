// SPDX-License-Identifier: BSD-3-Clause
// Memory that programs attach to dynamic windows, and memory that they load from and store to directly.
#include "core/base/out_of_memory.h"
#include "core/memory/node_segment.h"
#include "frameworks/osc/osc.h"
#include "mpi/instance/instance.h"
#include "mpi/windows/windows.h"
#include "object/error_cause.h"
#include "object/error_code.h"

#include <fmt/core.h>

#include <mutex>

namespace patchbay {

namespace {

using Regions = std::multimap<std::uintptr_t, std::uint64_t>;

// The regions do not overlap, so that only the one before and the one behind can overlap a new one. Empty ones overlap
// none.
const Regions::value_type* find_overlap(const Regions& regions, std::uintptr_t base, std::uint64_t bytes) noexcept {
    auto at = regions.lower_bound(base);
    for (auto behind = at; bytes > 0 && behind != regions.end() && behind->first < base + bytes; ++behind) {
        if (behind->second > 0) {
            return &*behind;
        }
    }
    while (bytes > 0 && at != regions.begin()) {
        --at;
        if (at->second > 0) {
            return at->first + at->second > base ? &*at : nullptr;
        }
    }
    return nullptr;
}

int add_region(Window& window, std::uintptr_t base, std::uint64_t bytes) {
    const std::lock_guard lock(window.mutex);
    if (const auto* other = find_overlap(window.regions, base, bytes)) {
        return note_cause(MPI_ERR_RMA_ATTACH,
            fmt::format("the {} bytes at {:#x} overlap the {} bytes at {:#x}, which are attached already", bytes, base,
                other->second, other->first));
    }
    window.regions.emplace(base, bytes);
    return MPI_SUCCESS;
}

// false: no region begins there.
bool remove_region(Window& window, std::uintptr_t base, std::uint64_t* bytes) noexcept {
    const std::lock_guard lock(window.mutex);
    const auto found = window.regions.find(base);
    if (found == window.regions.end()) {
        return false;
    }
    *bytes = found->second;
    window.regions.erase(found);
    return true;
}

} // namespace

// The module does not get empty regions, because no operation can reach them.
int attach(Window& window, void* base, std::uint64_t bytes) noexcept {
    const auto place = reinterpret_cast<std::uintptr_t>(base);
    int code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] { return add_region(window, place, bytes); });
    if (code == MPI_SUCCESS && bytes > 0) {
        code = window.module->attach(base, bytes);
        std::uint64_t removed = 0;
        if (code != MPI_SUCCESS) {
            remove_region(window, place, &removed);
        }
    }
    return code;
}

int detach(Window& window, const void* base) noexcept {
    std::uint64_t bytes = 0;
    if (!remove_region(window, reinterpret_cast<std::uintptr_t>(base), &bytes)) {
        return note_cause(MPI_ERR_BASE, "no memory that is attached to the window begins at base");
    }
    return bytes > 0 ? window.module->detach(const_cast<void*>(base)) : MPI_SUCCESS;
}

int shared_memory(Window& window, int rank, SharedMemory* result) noexcept {
    *result = {};
    if (rank == MPI_PROC_NULL) {
        for (rank = 0; rank < window.size && window.members[rank].bytes == 0; ++rank) {
        }
        if (rank == window.size) {
            return MPI_SUCCESS;
        }
    }
    const WindowMember& member = window.members[rank];
    if (rank == window.rank && window.flavor != MPI_WIN_FLAVOR_DYNAMIC) {
        *result = {window.base, member.bytes, member.displacement_unit};
    } else if (member.shared != 0) {
        std::byte* base = window.instance->core().node->heap().at(member.shared);
        if (base == nullptr) {
            return note_cause(MPI_ERR_RMA_SHARED, "the memory cannot be mapped: the address space is used up");
        }
        *result = {base, member.bytes, member.displacement_unit};
    } else if (window.flavor == MPI_WIN_FLAVOR_SHARED) {
        *result = {nullptr, member.bytes, member.displacement_unit};
    }
    return MPI_SUCCESS;
}

} // namespace patchbay
