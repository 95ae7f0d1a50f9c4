// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace patchbay::osc::rdma {

// Whether long puts and gets to one member go by a stream, or by halves that the two processes copy by the btl
// (README.md, "Delegated operations"). A stream passes each line through the caches of both cores, which takes 55 ns
// per KiB where these are near each other and 140 where they are not; halves take 80 anywhere, and some microseconds
// more. So streams are timed, all at first and some later, and are left when several were slow; after some MiB they are
// tried again, because processes and virtual cores move.
class StreamChoice {
public:
    static constexpr std::size_t from = std::size_t(32) << 10; // shorter ones go by streams

    // Counts an operation of that many bytes.
    bool takes_halves(std::size_t bytes) noexcept {
        if (bytes < from || _left == 0) {
            return false;
        }
        _left -= std::min(_left, bytes);
        return true;
    }
    // Whether the stream that follows is to be timed.
    bool is_timed(std::size_t bytes) noexcept { return bytes >= from && (_until_timed == 0 || --_until_timed == 0); }
    // A stream has taken that long.
    void note(std::chrono::nanoseconds time, std::size_t bytes) noexcept {
        if (std::size_t(time.count()) * 1024 <= most_ns_per_kib * bytes) {
            _slow -= _slow > 0;
            _stay = _slow == 0 ? shortest_stay : _stay;
            _until_timed = _slow == 0 ? seldom : 0;
            return;
        }
        _until_timed = 0;
        if (++_slow == votes_needed) {
            _slow = votes_needed / 2; // two more are enough at the next trial
            _left = _stay;
            _stay = std::min(2 * _stay, longest_stay);
        }
    }

private:
    static constexpr std::size_t most_ns_per_kib = 100;
    static constexpr std::uint8_t votes_needed = 4; // a single one may have been interrupted
    static constexpr std::uint8_t seldom = 16;
    static constexpr std::size_t shortest_stay = std::size_t(2) << 20; // bytes by halves
    static constexpr std::size_t longest_stay = std::size_t(64) << 20;

    std::size_t _left = 0; // bytes until streams are tried again
    std::size_t _stay = shortest_stay;
    std::uint8_t _slow = 0;        // votes
    std::uint8_t _until_timed = 8; // at first, buffers are new to the caches and to the kernel
};

} // namespace patchbay::osc::rdma
