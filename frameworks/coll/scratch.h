// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/lock.h"

#include <cstddef>
#include <utility>

namespace [[gnu::visibility("default")]] patchbay {
namespace coll {

// Memory for operations under way, which is kept for later ones: memory that comes from the system in every call costs
// a page fault for each 4 KiB, several times what the operation itself costs. One per instance, owned by the engine
// (Engine::scratch_pool). Thread-safe.
class ScratchPool {
public:
    ScratchPool() = default;
    ~ScratchPool();
    ScratchPool(const ScratchPool&) = delete;
    ScratchPool& operator=(const ScratchPool&) = delete;

    // A block of at least that many bytes, aligned to a cache line; nullptr: memory is exhausted. All blocks have been
    // given back when the pool is destroyed. Never blocks.
    std::byte* take(std::size_t bytes) noexcept;
    void give_back(std::byte* memory) noexcept;

    // How many bytes of blocks that nothing uses are kept. Before another thread uses the pool.
    void set_limit(std::size_t bytes) noexcept { _limit = bytes; }
    // The bytes in these blocks now.
    std::size_t kept() const noexcept { return _kept; }

private:
    struct Block;
    // How many blocks are kept at most: a search goes through all of them.
    static constexpr std::size_t most_blocks = 32;

    Block* find(std::size_t capacity) noexcept;
    Block* shrink() noexcept;
    void unlink(Block& block) noexcept;
    static void release(Block* list) noexcept;

    std::size_t _limit = 32u << 20;
    ProgressLock _lock{true};
    Block* _newest = nullptr; // the blocks that nothing uses, by when they were given back
    Block* _oldest = nullptr;
    std::size_t _count = 0;
    std::size_t _kept = 0;
};

// A block of a pool. Empty when memory is exhausted.
class Scratch {
public:
    Scratch() = default;
    Scratch(ScratchPool& pool, std::size_t bytes) noexcept
        : _pool(&pool),
          _memory(pool.take(bytes)) {}
    Scratch(Scratch&& other) noexcept
        : _pool(other._pool),
          _memory(std::exchange(other._memory, nullptr)) {}
    Scratch& operator=(Scratch&& other) noexcept {
        std::swap(_pool, other._pool);
        std::swap(_memory, other._memory);
        return *this;
    }
    ~Scratch() {
        if (_memory != nullptr) {
            _pool->give_back(_memory);
        }
    }
    std::byte* data() const noexcept { return _memory; }
    explicit operator bool() const noexcept { return _memory != nullptr; }

private:
    ScratchPool* _pool = nullptr;
    std::byte* _memory = nullptr;
};

} // namespace coll
} // namespace patchbay
