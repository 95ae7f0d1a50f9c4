// SPDX-License-Identifier: BSD-3-Clause
#include "components/btl/sm/payload_copy.h"

#include "components/common/large_copy.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

namespace patchbay::btl::sm {

namespace {
using Clock = std::chrono::steady_clock;
constexpr std::size_t line = 64;
constexpr double clock_ns = 30; // of reading the clock twice
} // namespace

void copy_past_cache(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
#ifdef __SSE2__
    const auto store = [](__m128i* place, __m128i value) { _mm_stream_si128(place, value); };
    const std::size_t whole = bytes / line * line;
    for (std::size_t at = 0; at < whole; at += line) {
        common::copy_64(to + at, from + at, store);
    }
    if (whole < bytes) {
        alignas(line) std::array<std::byte, line> last{};
        std::memcpy(last.data(), from + whole, bytes - whole);
        common::copy_64(to + whole, last.data(), store);
    }
    _mm_sfence();
#else
    std::memcpy(to, from, bytes);
#endif
}

void StoreWay::copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    if (_automatic && is_timed(bytes)) {
        const auto begin = Clock::now();
        common::copy_large(to, from, bytes);
        note(std::chrono::duration<double, std::nano>(Clock::now() - begin).count(), bytes);
    } else if (_uncached) {
        copy_past_cache(to, from, bytes);
    } else {
        common::copy_large(to, from, bytes);
    }
}

void StoreWay::skip(std::size_t bytes) noexcept {
    if (_automatic && is_timed(bytes)) {
        _until_timed = 1; // the next one is
    }
}

bool StoreWay::is_timed(std::size_t bytes) noexcept {
    if (_uncached) {
        if (bytes <= _left) {
            _left -= bytes;
            return false;
        }
        _uncached = false;
        _untimed_bytes = lap;
        _until_timed = 1;
        _slow = _fast = 0;
    }
    if (_untimed_bytes > 0) {
        _untimed_bytes -= std::min(bytes, _untimed_bytes);
        return false;
    }
    return --_until_timed == 0;
}

void StoreWay::note(double ns, std::size_t bytes) noexcept {
    if (ns * 1024 <= _most_ns_per_kib * double(bytes) + clock_ns * 1024) {
        _slow -= _slow > 0;
        if (_fast < votes_needed) {
            ++_fast;
        } else {
            _stay = shortest_stay;
        }
    } else {
        _fast = 0;
        if (++_slow == votes_needed) {
            _uncached = true;
            _left = _stay;
            _stay = std::min(2 * _stay, longest_stay);
        }
    }
    _until_timed = _fast < votes_needed ? 1 : seldom;
}

void PayloadCopy::copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    if (bytes < least) {
        std::memcpy(to, from, bytes);
    } else {
        way(bytes).copy(to, from, bytes);
    }
}

} // namespace patchbay::btl::sm
