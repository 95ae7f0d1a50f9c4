// SPDX-License-Identifier: BSD-3-Clause
// The word of a run, as the parts of the shared heap read and write it. Private to core/memory.
#pragma once
#include <cstdint>

namespace patchbay::shared_run {

// A run: consecutive granules that are one block, or free. Runs follow each other without a gap, so that a walk from
// one to the next visits each. The word of a run is that of its first granule: its length in granules (of a chunk that
// is one block: in pages), and of a block also these.
constexpr std::uint64_t used = std::uint64_t(1) << 32;
constexpr std::uint64_t sparse = std::uint64_t(1) << 48;
// Of a free run: all of it has memory, so that a block in it need not take any.
constexpr std::uint64_t backed = std::uint64_t(1) << 49;
constexpr unsigned owner_shift = 33;
constexpr std::uint64_t owner_mask = 0x7fff;

constexpr std::uint64_t used_by(std::uint32_t owner) noexcept {
    return used | (owner & owner_mask) << owner_shift;
}
constexpr bool is_used(std::uint64_t run) noexcept {
    return (run & used) != 0;
}
constexpr std::uint32_t length_of(std::uint64_t run) noexcept {
    return std::uint32_t(run);
}
constexpr std::uint32_t owner_of(std::uint64_t run) noexcept {
    return std::uint32_t(run >> owner_shift & owner_mask);
}

} // namespace patchbay::shared_run
