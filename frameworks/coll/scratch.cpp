// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/coll/scratch.h"

#include <bit>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <new>

namespace patchbay::coll {

// Stands in front of the memory that a caller gets.
struct alignas(64) ScratchPool::Block {
    std::size_t capacity; // of the memory behind it
    Block* newer;
    Block* older;
};

namespace {

constexpr std::size_t smallest = 4096;

// Blocks have the sizes of powers of two, so that calls of different lengths use the same ones. What a caller does not
// touch of a large block is no memory yet.
std::size_t capacity_for(std::size_t bytes) noexcept {
    return bytes <= smallest ? smallest : std::bit_ceil(bytes);
}

} // namespace

ScratchPool::~ScratchPool() {
    release(_newest);
}

std::byte* ScratchPool::take(std::size_t bytes) noexcept {
    if (bytes > std::numeric_limits<std::size_t>::max() / 4) {
        return nullptr;
    }
    const std::size_t capacity = capacity_for(bytes);
    Block* block = nullptr;
    {
        std::lock_guard lock(_lock);
        block = find(capacity);
    }
    if (block == nullptr) {
        void* memory = std::aligned_alloc(alignof(Block), sizeof(Block) + capacity);
        if (memory == nullptr) {
            return nullptr;
        }
        block = ::new (memory) Block{capacity, nullptr, nullptr};
    }
    return reinterpret_cast<std::byte*>(block + 1);
}

void ScratchPool::give_back(std::byte* memory) noexcept {
    Block* block = reinterpret_cast<Block*>(memory) - 1;
    Block* too_many = nullptr;
    if (block->capacity > _limit) {
        block->older = nullptr;
        release(block); // with it no other one could be kept
        return;
    }
    {
        std::lock_guard lock(_lock);
        block->newer = nullptr;
        block->older = _newest;
        (_newest != nullptr ? _newest->newer : _oldest) = block;
        _newest = block;
        ++_count;
        _kept += block->capacity;
        too_many = shrink();
    }
    release(too_many);
}

// The newest block of that capacity, which is most likely still in the cache.
ScratchPool::Block* ScratchPool::find(std::size_t capacity) noexcept {
    for (Block* block = _newest; block != nullptr; block = block->older) {
        if (block->capacity == capacity) {
            unlink(*block);
            return block;
        }
    }
    return nullptr;
}

// Removes the oldest blocks until the rest is within the limits, and returns the list of them.
ScratchPool::Block* ScratchPool::shrink() noexcept {
    Block* removed = nullptr;
    while (_kept > _limit || _count > most_blocks) {
        Block* block = _oldest;
        unlink(*block);
        block->older = removed;
        removed = block;
    }
    return removed;
}

void ScratchPool::unlink(Block& block) noexcept {
    (block.newer != nullptr ? block.newer->older : _newest) = block.older;
    (block.older != nullptr ? block.older->newer : _oldest) = block.newer;
    --_count;
    _kept -= block.capacity;
}

void ScratchPool::release(Block* list) noexcept {
    while (list != nullptr) {
        Block* block = std::exchange(list, list->older);
        block->~Block();
        std::free(block);
    }
}

} // namespace patchbay::coll
