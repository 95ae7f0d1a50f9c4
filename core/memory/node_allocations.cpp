// SPDX-License-Identifier: BSD-3-Clause
#include "core/memory/node_allocations.h"

#include <new>

namespace patchbay {

// Never destroyed: the program may free memory in a destructor of its own.
NodeAllocations& NodeAllocations::get() noexcept {
    alignas(NodeAllocations) static std::byte memory[sizeof(NodeAllocations)];
    static auto* const all = new (memory) NodeAllocations;
    return *all;
}

void NodeAllocations::attach(NodeSegment& segment, std::size_t most) noexcept {
    const std::lock_guard hold(_mutex);
    if (segment.expected() > 1 || segment.is_for_all_jobs()) {
        _segment = &segment;
        _most = most;
    }
}

void NodeAllocations::detach() noexcept {
    const std::lock_guard hold(_mutex);
    if (_segment == nullptr) {
        return;
    }
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

void* NodeAllocations::allocate(std::size_t bytes, std::size_t alignment) noexcept {
    const std::lock_guard hold(_mutex);
    if (_segment == nullptr || bytes < least || bytes > _most || alignment > SharedHeap::granule ||
        !has_chunk_for(bytes)) {
        return nullptr;
    }
    try {
        auto block = _segment->heap().alloc(bytes, _segment->slot());
        if (!block) {
            return nullptr;
        }
        try {
            _blocks.insert_or_assign(block->bytes.data(), Block{block->address, _segment->id()});
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
    if (_segment != nullptr && found->second.segment == _segment->id()) {
        _segment->heap().free(found->second.address);
    }
    _blocks.erase(found);
    return true;
}

} // namespace patchbay
