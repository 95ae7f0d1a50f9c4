// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <sched.h>

namespace patchbay::threads {

// The copy of a long message, in pieces that two threads take in turn: the receiver, which begins it, and the sender
// while it waits for its end. Between two cores that are far from each other each of them waits for cache lines most of
// the time.
class SharedCopy {
public:
    static constexpr std::size_t piece = 16 << 10;
    static constexpr std::size_t least = 2 * piece;

    // Before the message is sent.
    void reset() noexcept { _open.store(false, std::memory_order_relaxed); }

    // The receiver's part; returns when all is copied.
    void run(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
        _to = to;
        _from = from;
        _bytes = bytes;
        _next.store(0, std::memory_order_relaxed);
        _copied.store(0, std::memory_order_relaxed);
        _open.store(true, std::memory_order_release);
        copy_pieces();
        for (int looks = 1; _copied.load(std::memory_order_acquire) != pieces(); ++looks) {
            if (looks % 1000 == 0) {
                sched_yield(); // the sender has lost its core
            }
        }
    }
    // The sender's.
    void help() noexcept {
        if (_open.load(std::memory_order_acquire)) {
            copy_pieces();
        }
    }

private:
    std::uint32_t pieces() const noexcept { return std::uint32_t((_bytes + piece - 1) / piece); }
    void copy_pieces() noexcept {
        while (_next.load(std::memory_order_relaxed) < pieces()) {
            const std::uint32_t taken = _next.fetch_add(1, std::memory_order_relaxed);
            if (taken >= pieces()) {
                return;
            }
            const std::size_t offset = taken * piece;
            std::memcpy(_to + offset, _from + offset, std::min(piece, _bytes - offset));
            _copied.fetch_add(1, std::memory_order_release);
        }
    }

    alignas(64) std::atomic<bool> _open{false};
    std::byte* _to = nullptr;
    const std::byte* _from = nullptr;
    std::size_t _bytes = 0;
    alignas(64) std::atomic<std::uint32_t> _next{0};
    std::atomic<std::uint32_t> _copied{0};
};

} // namespace patchbay::threads
