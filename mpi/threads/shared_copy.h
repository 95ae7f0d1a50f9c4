// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/copy.h"
#include "core/base/payload_copy.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <sched.h>

namespace patchbay::threads {

// The copy of a long message, in pieces that two threads take in turn: the receiver, which begins it, and the sender
// while it waits for its end. Between two cores that are far from each other each of them waits for cache lines most of
// the time, unless the sender writes past the cache.
class SharedCopy {
public:
    static constexpr std::size_t piece = 16 << 10;
    static constexpr std::size_t least = 2 * piece;
    // A piece that the sender copies takes 40 to 70 ns per KiB where the cores share a cache, and 150 where they do
    // not.
    static constexpr double most_ns_per_kib = 100;

    // Before the message is sent. `way`: of the sender to this receiver; nullptr: it has none yet.
    void reset(StoreWay* way) noexcept {
        _way = way;
        _open.store(false, std::memory_order_relaxed);
    }

    // The receiver's part; returns when all is copied.
    void run(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
        _to = to;
        _from = from;
        _bytes = bytes;
        _next.store(0, std::memory_order_relaxed);
        _copied.store(0, std::memory_order_relaxed);
        _open.store(true, std::memory_order_release);
        copy_pieces(copy_bytes);
        for (int looks = 1; _copied.load(std::memory_order_acquire) != pieces(); ++looks) {
            if (looks % 1000 == 0) {
                sched_yield(); // the sender has lost its core
            }
        }
    }
    // The sender's.
    void help() noexcept {
        if (!_open.load(std::memory_order_acquire)) {
            return;
        }
        copy_pieces([this](std::byte* target, const std::byte* source, std::size_t size) {
            if (_way == nullptr) {
                copy_bytes(target, source, size);
            } else {
                // `rep movsb` does not read the lines of the target, which the receiver's core has.
                _way->copy_exactly(target, source, size, copy_bytes);
            }
        });
    }

private:
    std::uint32_t pieces() const noexcept { return std::uint32_t((_bytes + piece - 1) / piece); }
    template <class Copy>
    void copy_pieces(const Copy& copy) noexcept {
        while (_next.load(std::memory_order_relaxed) < pieces()) {
            const std::uint32_t taken = _next.fetch_add(1, std::memory_order_relaxed);
            if (taken >= pieces()) {
                return;
            }
            const std::size_t offset = taken * piece;
            copy(_to + offset, _from + offset, std::min(piece, _bytes - offset));
            _copied.fetch_add(1, std::memory_order_release);
        }
    }

    StoreWay* _way = nullptr; // the sender's
    alignas(64) std::atomic<bool> _open{false};
    std::byte* _to = nullptr;
    const std::byte* _from = nullptr;
    std::size_t _bytes = 0;
    alignas(64) std::atomic<std::uint32_t> _next{0};
    std::atomic<std::uint32_t> _copied{0};
};

} // namespace patchbay::threads
