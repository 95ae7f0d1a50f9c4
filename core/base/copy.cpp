// SPDX-License-Identifier: BSD-3-Clause
#include "core/base/copy.h"

#include "core/base/copy_lines.h"
#include "core/base/processor.h"

namespace patchbay {

#ifdef __SSE2__
void copy_large(void* to, const void* from, std::size_t bytes) noexcept {
    static const bool has_avx2 = processor_has_avx2();
    auto* target = static_cast<std::byte*>(to);
    const auto* source = static_cast<const std::byte*>(from);
    const std::size_t in_lines = bytes / 64 * 64;
    has_avx2 ? copy_lines_avx2(target, source, in_lines / 64) : copy_lines_sse2(target, source, in_lines / 64);
    std::memcpy(target + in_lines, source + in_lines, bytes - in_lines);
}
#else
void copy_large(void* to, const void* from, std::size_t bytes) noexcept {
    std::memcpy(to, from, bytes);
}
#endif

} // namespace patchbay
