// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/copy.h"

#include <cstddef>
#include <cstring>

namespace patchbay::common {

// memcpy for a few dozen bytes: a call would cost more than the copy.
inline void copy_short(void* to, const void* from, std::size_t bytes) noexcept {
    auto* target = static_cast<std::byte*>(to);
    const auto* source = static_cast<const std::byte*>(from);
    if (bytes - 8 < 8) [[likely]] { // one number
        std::memcpy(target, source, 8);
        std::memcpy(target + bytes - 8, source + bytes - 8, 8);
    } else if (bytes >= 16) {
        for (std::size_t at = 0; at + 16 <= bytes; at += 16) {
            std::memcpy(target + at, source + at, 16);
        }
        std::memcpy(target + bytes - 16, source + bytes - 16, 16);
    } else if (bytes >= 4) {
        std::memcpy(target, source, 4);
        std::memcpy(target + bytes - 4, source + bytes - 4, 4);
    } else if (bytes > 0) {
        target[0] = source[0];
        target[bytes / 2] = source[bytes / 2];
        target[bytes - 1] = source[bytes - 1];
    }
}

inline constexpr std::size_t short_copy_limit = 64;

inline void copy_any(void* to, const void* from, std::size_t bytes) noexcept {
    if (bytes <= short_copy_limit) {
        copy_short(to, from, bytes);
    } else if (bytes < large_copy_from) {
        std::memcpy(to, from, bytes);
    } else {
        copy_large(to, from, bytes);
    }
}

} // namespace patchbay::common
