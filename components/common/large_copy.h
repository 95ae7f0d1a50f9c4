// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/processor.h"

#include <cstddef>
#include <cstring>
#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace patchbay::common {

#ifdef __SSE2__
// 64 bytes; `store` has the parameters of _mm_storeu_si128().
template <class Store>
inline void copy_64(std::byte* to, const std::byte* from, const Store& store) noexcept {
    const auto* source = reinterpret_cast<const __m128i*>(from);
    auto* target = reinterpret_cast<__m128i*>(to);
    const __m128i first = _mm_loadu_si128(source);
    const __m128i second = _mm_loadu_si128(source + 1);
    const __m128i third = _mm_loadu_si128(source + 2);
    const __m128i fourth = _mm_loadu_si128(source + 3);
    store(target, first);
    store(target + 1, second);
    store(target + 2, third);
    store(target + 3, fourth);
}

[[gnu::target("avx2")]] inline void copy_lines_avx2(std::byte* to, const std::byte* from, std::size_t lines) noexcept {
    for (; lines > 0; --lines, to += 64, from += 64) {
        const __m256i first = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
        const __m256i second = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + 32));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), first);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 32), second);
    }
}
inline void copy_lines_sse2(std::byte* to, const std::byte* from, std::size_t lines) noexcept {
    for (; lines > 0; --lines, to += 64, from += 64) {
        copy_64(to, from, [](__m128i* place, __m128i value) { _mm_storeu_si128(place, value); });
    }
}
#endif

// memcpy for 2 KiB and more of a message. The C library uses `rep movsb` for these sizes where the processor announces
// it as fast. Where the offsets of both blocks in their pages differ by less than a line, that takes two to five times
// as long on a Zen 4 (110 to 300 ns instead of 60 per KiB that another core had written); which is the usual case,
// because malloc() puts large blocks 16 bytes behind the start of a page, and packets begin at its start.
inline void copy_large(void* to, const void* from, std::size_t bytes) noexcept {
#ifdef __SSE2__
    static const bool has_avx2 = processor_has_avx2();
    auto* target = static_cast<std::byte*>(to);
    const auto* source = static_cast<const std::byte*>(from);
    const std::size_t in_lines = bytes / 64 * 64;
    has_avx2 ? copy_lines_avx2(target, source, in_lines / 64) : copy_lines_sse2(target, source, in_lines / 64);
    std::memcpy(target + in_lines, source + in_lines, bytes - in_lines);
#else
    std::memcpy(to, from, bytes);
#endif
}

} // namespace patchbay::common
