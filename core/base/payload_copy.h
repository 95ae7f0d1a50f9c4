// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/copy.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace [[gnu::visibility("default")]] patchbay {

inline constexpr std::size_t cache_line_bytes = 64;

// How a payload is written to shared memory. The receiver read the same lines a lap earlier, so that its core has them
// in its cache, and each ordinary store has to take a line from there: 25 ns per KiB where the cores are near each
// other, 120 to 450 where they are not. Stores past the cache take 25 ns per KiB anywhere. The receiver then reads from
// memory, which takes longer than reading from a near core's cache, and as long as reading from a distant one's.
enum class Stores : std::uint8_t { automatic, cached, uncached };

// Copies by stores past the cache. `to` begins a cache line, and `bytes` are rounded up to whole lines there: what is
// behind them in the last line is overwritten. Other cores see all of it before what the caller stores next.
inline void copy_past_cache(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;
// The same to any place, behind which nothing is overwritten.
inline void exactly_past_cache(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;

// The way in which payloads of similar size are written for one receiver. With `automatic` it times ordinary copies,
// all at first and some later, and changes to stores past the cache when several were slow. After some MiB it tries
// ordinary ones again, because processes and virtual cores move.
class StoreWay {
public:
    // An ordinary copy that takes longer than `most_ns_per_kib` is slower than one past the cache.
    StoreWay(Stores stores, double most_ns_per_kib) noexcept
        : _most_ns_per_kib(most_ns_per_kib),
          _automatic(stores == Stores::automatic),
          _uncached(stores == Stores::uncached) {}

    // `to` as for copy_past_cache().
    void copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
        copy_by(copy_past_cache, to, from, bytes, copy_large);
    }
    // To any place, behind which nothing is overwritten. `ordinary`: like memcpy.
    template <class Ordinary>
    void copy_exactly(std::byte* to, const std::byte* from, std::size_t bytes, const Ordinary& ordinary) noexcept {
        copy_by(exactly_past_cache, to, from, bytes, ordinary);
    }
    // Whether the caller may as well write the next payload by itself. Otherwise copy() is to do it. skip() or copy()
    // follows.
    bool any_way_will_do() const noexcept {
        return !_uncached && (!_automatic || _untimed_bytes > 0 || _until_timed > 1);
    }
    void skip(std::size_t bytes) noexcept;
    bool uncached() const noexcept { return _uncached; }
    // The receiver has not read from this memory for a while: what was measured is out of date.
    void restart() noexcept;

    // An ordinary copy has taken that long.
    void note(double ns, std::size_t bytes) noexcept;

    // One lap of a ring: what is written during it was not in the receiver's cache, or not in memory at all.
    static constexpr std::size_t lap = std::size_t(128) << 10;
    static constexpr std::size_t shortest_stay = std::size_t(1) << 20; // with stores past the cache, in bytes
    static constexpr std::size_t longest_stay = std::size_t(64) << 20;
    // Slow copies, net of fast ones, that change the way: a single one may have been interrupted.
    static constexpr std::uint8_t votes_needed = 4;
    static constexpr std::uint8_t seldom = 16; // one copy in so many is timed once they have been fast

private:
    template <class Past, class Ordinary>
    void copy_by(const Past& past_cache, std::byte* to, const std::byte* from, std::size_t bytes,
        const Ordinary& ordinary) noexcept;
    void begin_trial() noexcept; // of ordinary stores
    // What this payload needs of the state. true: an ordinary copy that is to be timed.
    bool is_timed(std::size_t bytes) noexcept;

    const double _most_ns_per_kib;
    const bool _automatic;
    bool _uncached;
    std::uint8_t _slow = 0; // votes
    std::uint8_t _fast = 0; // fast copies in a row
    std::uint8_t _until_timed = 1;
    std::size_t _untimed_bytes = lap; // to be copied before the next one is timed
    std::size_t _stay = shortest_stay;
    std::size_t _left = 0; // bytes until ordinary stores are tried again
};

// Both ways of a receiver: short and long payloads differ in what is faster.
class PayloadCopy {
public:
    explicit PayloadCopy(Stores stores) noexcept
        : _short(stores, most_ns_per_kib_short),
          _long(stores, most_ns_per_kib_long) {}

    // `to` as for copy_past_cache().
    void copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;
    // The same to any place, behind which nothing is overwritten.
    void copy_exactly(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;
    bool any_way_will_do(std::size_t bytes) noexcept { return bytes < least || way(bytes).any_way_will_do(); }
    void skip(std::size_t bytes) noexcept {
        if (bytes >= least) {
            way(bytes).skip(bytes);
        }
    }
    void restart() noexcept {
        _short.restart();
        _long.restart();
    }

    // Below this the stores of a copy are still on their way when it ends, so that its time says nothing, and copies
    // are ordinary ones.
    static constexpr std::size_t least = 2048;

private:
    static constexpr std::size_t long_from = 12 * 1024;
    static constexpr std::size_t piece = 16 * 1024; // of copy_exactly(): one is timed, and not a whole message
    // What the receiver loses by reading from memory counts more for a short payload, of which it waits for the first
    // lines. Of 4 KiB one way, with ordinary copies of 65 ns per KiB: 545 ns, and 720 past the cache.
    static constexpr double most_ns_per_kib_short = 110;
    static constexpr double most_ns_per_kib_long = 65;
    StoreWay& way(std::size_t bytes) noexcept { return bytes < long_from ? _short : _long; }

    StoreWay _short;
    StoreWay _long;
};

inline void copy_past_cache(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
#ifdef __SSE2__
    const auto copy_line = [](std::byte* target, const std::byte* source) {
        const auto* values = reinterpret_cast<const __m128i*>(source);
        auto* places = reinterpret_cast<__m128i*>(target);
        const __m128i first = _mm_loadu_si128(values);
        const __m128i second = _mm_loadu_si128(values + 1);
        const __m128i third = _mm_loadu_si128(values + 2);
        const __m128i fourth = _mm_loadu_si128(values + 3);
        _mm_stream_si128(places, first);
        _mm_stream_si128(places + 1, second);
        _mm_stream_si128(places + 2, third);
        _mm_stream_si128(places + 3, fourth);
    };
    const std::size_t whole = bytes / cache_line_bytes * cache_line_bytes;
    for (std::size_t at = 0; at < whole; at += cache_line_bytes) {
        copy_line(to + at, from + at);
    }
    if (whole < bytes) {
        alignas(cache_line_bytes) std::array<std::byte, cache_line_bytes> last{};
        std::memcpy(last.data(), from + whole, bytes - whole);
        copy_line(to + whole, last.data());
    }
    _mm_sfence();
#else
    std::memcpy(to, from, bytes);
#endif
}

// The parts of lines at both ends by ordinary stores.
inline void exactly_past_cache(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    const std::size_t head = std::min(-reinterpret_cast<std::uintptr_t>(to) % cache_line_bytes, bytes);
    const std::size_t lines = (bytes - head) / cache_line_bytes * cache_line_bytes;
    std::memcpy(to, from, head);
    std::memcpy(to + head + lines, from + head + lines, bytes - head - lines);
    copy_past_cache(to + head, from + head, lines);
}

template <class Past, class Ordinary>
inline void StoreWay::copy_by(const Past& past_cache, std::byte* to, const std::byte* from, std::size_t bytes,
    const Ordinary& ordinary) noexcept {
    if (_automatic && is_timed(bytes)) {
        const auto begin = std::chrono::steady_clock::now();
        ordinary(to, from, bytes);
        note(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count(), bytes);
    } else if (_uncached) {
        past_cache(to, from, bytes);
    } else {
        ordinary(to, from, bytes);
    }
}

inline void StoreWay::skip(std::size_t bytes) noexcept {
    if (_automatic && is_timed(bytes)) {
        _until_timed = 1; // the next one is
    }
}

inline void StoreWay::begin_trial() noexcept {
    _uncached = false;
    _untimed_bytes = lap;
    _until_timed = 1;
    _slow = _fast = 0;
}

inline void StoreWay::restart() noexcept {
    if (_automatic) {
        begin_trial();
        _stay = shortest_stay;
    }
}

inline bool StoreWay::is_timed(std::size_t bytes) noexcept {
    if (_uncached) {
        if (bytes <= _left) {
            _left -= bytes;
            return false;
        }
        begin_trial();
    }
    if (_untimed_bytes > 0) {
        _untimed_bytes -= std::min(bytes, _untimed_bytes);
        return false;
    }
    return --_until_timed == 0;
}

inline void StoreWay::note(double ns, std::size_t bytes) noexcept {
    constexpr double clock_ns = 30; // of reading the clock twice
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

inline void PayloadCopy::copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    if (bytes < least) {
        std::memcpy(to, from, bytes);
    } else {
        way(bytes).copy(to, from, bytes);
    }
}

// In pieces that end where lines of `to` do.
inline void PayloadCopy::copy_exactly(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    std::size_t end = piece - reinterpret_cast<std::uintptr_t>(to) % cache_line_bytes;
    for (std::size_t at = 0; at < bytes; at = end, end += piece) {
        end = std::min(end, bytes);
        const std::size_t size = end - at;
        if (size < least) {
            std::memcpy(to + at, from + at, size);
        } else {
            way(size).copy_exactly(to + at, from + at, size, copy_large);
        }
    }
}

} // namespace patchbay
