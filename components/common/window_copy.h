// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/common/short_copy.h"

#include <algorithm>

namespace patchbay::common {

// The C library leaves `rep movsb` for vector loops at sizes of about half a cache; below this size it does not.
inline constexpr std::size_t window_copy_piece = std::size_t(128) << 10;
inline constexpr std::size_t window_copy_from = 4096;

// memcpy between the buffer of an operation and the memory of a window that this process has mapped. memcpy of the C
// library takes `rep movsb` where the processor announces it as fast: it writes whole lines without reading them first,
// which a loop of stores does for lines that the target has used since. Above about half a cache the C library leaves
// it, and so the copy is made in pieces.
inline void copy_window(void* to, const void* from, std::size_t bytes) noexcept {
    if (bytes < window_copy_from) {
        copy_any(to, from, bytes);
        return;
    }
    auto* target = static_cast<std::byte*>(to);
    const auto* source = static_cast<const std::byte*>(from);
    while (bytes > 0) {
        const std::size_t piece = std::min(bytes, window_copy_piece);
        copy_bytes(target, source, piece);
        target += piece;
        source += piece;
        bytes -= piece;
    }
}

} // namespace patchbay::common
