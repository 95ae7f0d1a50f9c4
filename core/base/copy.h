// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace [[gnu::visibility("default")]] patchbay {

// The C library copies blocks from about this size on by `rep movsb`, where the processor announces that as fast.
inline constexpr std::size_t large_copy_from = 2048;

// Whether each line that is written lies less than a line behind the one that is read, in their pages: the processor
// takes such loads for loads of what it has just stored.
inline bool is_aliased(const void* to, const void* from) noexcept {
    const auto distance = (reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from)) & 4095;
    return distance - 1 < 63;
}

// memcpy by a loop of vectors.
void copy_large(void* to, const void* from, std::size_t bytes) noexcept;

// memcpy for the contents of messages. `rep movsb` of blocks that are aliased takes 330 ns per KiB on a Zen 4, and the
// loop 12 to 25. They are frequent: malloc() puts large blocks 16 bytes behind the start of a page, where packets and
// the memory of windows begin.
inline void copy_bytes(void* to, const void* from, std::size_t bytes) noexcept {
    if (bytes >= large_copy_from && is_aliased(to, from)) [[unlikely]] {
        copy_large(to, from, bytes);
    } else {
        std::memcpy(to, from, bytes);
    }
}

// The same for blocks that may overlap.
inline void move_bytes(void* to, const void* from, std::size_t bytes) noexcept {
    const auto distance = reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from);
    if (distance < bytes || -distance < bytes) [[unlikely]] {
        std::memmove(to, from, bytes);
    } else {
        copy_bytes(to, from, bytes);
    }
}

} // namespace patchbay
