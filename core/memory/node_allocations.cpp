// SPDX-License-Identifier: BSD-3-Clause
#include "core/memory/node_allocations.h"

#include <algorithm>
#include <new>
#include <utility>

namespace patchbay {

// Never destroyed: the program may free memory in a destructor of its own.
NodeAllocations& NodeAllocations::get() noexcept {
    alignas(NodeAllocations) static std::byte memory[sizeof(NodeAllocations)];
    static auto* const all = new (memory) NodeAllocations;
    return *all;
}

void NodeAllocations::attach(NodeSegment& segment, std::size_t most, std::size_t kept) noexcept {
    const std::lock_guard hold(_mutex);
    if (segment.expected() > 1 || segment.is_for_all_jobs()) {
        _segment = &segment;
        _most = most;
        _bytes_to_keep = kept;
        segment.heap().set_reclaim(
            {[](void* self) noexcept { return static_cast<NodeAllocations*>(self)->drop_all(); }, this});
    }
}

void NodeAllocations::detach() noexcept {
    const std::lock_guard hold(_mutex);
    if (_segment == nullptr) {
        return;
    }
    _segment->heap().set_reclaim({});
    drop_all();
    for (const auto& [memory, block] : _blocks) {
        // Not of an earlier generation, whose memory has another address than the same chunk has now.
        if (block.segment == _segment->id() && _segment->heap().at(block.address) == memory) {
            _segment->heap().leave_mapped(block.address);
        }
    }
    _segment = nullptr;
}

// Half of them are left to windows, rings and the like, which cannot do without.
bool NodeAllocations::has_chunk_for(std::size_t bytes) noexcept {
    return bytes < SharedHeap::large || _segment->heap().chunks() < SharedHeap::most_chunks / 2;
}

// One that is much longer than asked for is left to a longer request.
void* NodeAllocations::take_kept(std::size_t bytes) noexcept {
    for (std::size_t i = _kept_blocks; i-- > 0;) {
        const std::size_t length = _kept[i].mapped().bytes;
        if (length < bytes || length / 2 > bytes) {
            continue;
        }
        void* const memory = _kept[i].key();
        try {
            _blocks.insert(std::move(_kept[i]));
        } catch (const std::bad_alloc&) { // the table does not grow
            return nullptr;
        }
        std::move(&_kept[i] + 1, &_kept[_kept_blocks - 1] + 1, &_kept[i]);
        --_kept_blocks;
        _bytes_kept -= length;
        return memory;
    }
    return nullptr;
}

void NodeAllocations::keep(Blocks::node_type freed) noexcept {
    const std::size_t bytes = freed.mapped().bytes;
    if (bytes > _bytes_to_keep) {
        _segment->heap().free(freed.mapped().address);
        return;
    }
    std::size_t before = _bytes_kept;
    std::size_t dropped = _kept_blocks == most_kept ? 1 : 0;
    for (std::size_t i = 0; i < _kept_blocks && before + bytes > _bytes_to_keep; ++i) {
        before -= _kept[i].mapped().bytes;
        dropped = std::max(dropped, i + 1);
    }
    drop(dropped);
    _bytes_kept += bytes;
    _kept[_kept_blocks++] = std::move(freed);
}

void NodeAllocations::drop(std::size_t count) noexcept {
    if (count == 0) {
        return; // a node handle must not be moved to itself
    }
    for (std::size_t i = 0; i < count; ++i) {
        _bytes_kept -= _kept[i].mapped().bytes;
        _segment->heap().free(_kept[i].mapped().address);
        _kept[i] = {};
    }
    std::move(_kept.begin() + std::ptrdiff_t(count), _kept.begin() + std::ptrdiff_t(_kept_blocks), _kept.begin());
    _kept_blocks -= count;
}

bool NodeAllocations::drop_all() noexcept {
    const std::lock_guard hold(_mutex);
    const bool any = _kept_blocks != 0;
    drop(_kept_blocks);
    return any;
}

void* NodeAllocations::allocate(std::size_t bytes, std::size_t alignment) noexcept {
    const std::lock_guard hold(_mutex);
    if (_segment == nullptr || bytes < least || bytes > _most || alignment > SharedHeap::granule ||
        !has_chunk_for(bytes)) {
        return nullptr;
    }
    if (void* memory = take_kept(bytes)) {
        return memory;
    }
    try {
        auto block = _segment->heap().alloc(bytes, _segment->slot());
        if (!block) {
            return nullptr;
        }
        try {
            _blocks.insert_or_assign(block->bytes.data(), Block{block->address, _segment->id(), block->bytes.size()});
            return block->bytes.data();
        } catch (const std::bad_alloc&) {
            _segment->heap().free(block->address);
        }
    } catch (const std::bad_alloc&) { // the text of an error
    }
    return nullptr;
}

bool NodeAllocations::free(void* memory) noexcept {
    const std::lock_guard hold(_mutex);
    const auto found = _blocks.find(memory);
    if (found == _blocks.end()) {
        return false;
    }
    // Without the segment the block stays until the process ends.
    Blocks::node_type freed = _blocks.extract(found);
    if (_segment != nullptr && freed.mapped().segment == _segment->id()) {
        keep(std::move(freed));
    }
    return true;
}

} // namespace patchbay
