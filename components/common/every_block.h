// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/convertor.h"

#include <array>
#include <cstdint>
#include <sys/uio.h>

namespace patchbay::common {

// Whether test(address, bytes) is true for each block of `places`, from its position on. Of the elements of a dynamic
// window: their type may have absolute displacements, so that the blocks lie in several regions (MPI-5.0, 12.2.5).
template <class Test>
bool every_block(Convertor places, const Test& test) noexcept {
    std::array<iovec, 64> blocks;
    while (places.remaining() > 0) {
        const std::size_t count = places.next_blocks(blocks, places.remaining());
        for (std::size_t i = 0; i < count; ++i) {
            if (!test(reinterpret_cast<std::uintptr_t>(blocks[i].iov_base), std::uint64_t(blocks[i].iov_len))) {
                return false;
            }
        }
    }
    return true;
}

} // namespace patchbay::common
