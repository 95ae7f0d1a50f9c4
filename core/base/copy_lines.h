// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace patchbay {

// The loops of copy_large(), of lines of 64 bytes.
#ifdef __SSE2__
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
        for (int part = 0; part < 64; part += 16) {
            const __m128i value = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + part));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(to + part), value);
        }
    }
}
#endif

} // namespace patchbay
