// SPDX-License-Identifier: BSD-3-Clause
#include "components/chan/rdma/reachable_memory.h"

#include "core/memory/node_segment.h"

#include <cstdlib>
#include <cstring>

namespace patchbay::chan::rdma {

namespace {
constexpr std::size_t line = 64;
}

Result<ReachableMemory> ReachableMemory::allocate(NodeSegment* segment, std::size_t bytes) {
    ReachableMemory memory;
    if (segment != nullptr) {
        auto block = segment->heap().alloc(bytes, segment->slot());
        if (block) {
            memory._segment = segment;
            memory._block = block->address;
            memory._base = block->bytes.data();
            return Result<ReachableMemory>(std::move(memory));
        }
        if (block.error().code != Errc::out_of_memory) {
            return block.error();
        }
    }
    void* const own = bytes > SIZE_MAX - line ? nullptr : std::aligned_alloc(line, (bytes + line - 1) / line * line);
    if (own == nullptr) {
        return Error{Errc::out_of_memory, "chan/rdma: no memory for the messages of a channel"};
    }
    std::memset(own, 0, bytes);
    memory._base = static_cast<std::byte*>(own);
    return Result<ReachableMemory>(std::move(memory));
}

ReachableMemory& ReachableMemory::operator=(ReachableMemory&& other) noexcept {
    if (this != &other) {
        reset();
        _segment = other._segment;
        _block = std::exchange(other._block, 0);
        _base = std::exchange(other._base, nullptr);
    }
    return *this;
}

void ReachableMemory::reset() noexcept {
    if (_block != 0) {
        _segment->heap().free(_block);
    } else {
        std::free(_base);
    }
    _block = 0;
    _base = nullptr;
}

Result<Registered> Registered::create(btl::OneSided& module, void* base, std::uint64_t bytes) noexcept {
    auto key = module.register_memory(base, bytes);
    if (!key) {
        return key.error();
    }
    Registered registered;
    registered._module = &module;
    registered._key = *key;
    return Result<Registered>(std::move(registered));
}

Registered& Registered::operator=(Registered&& other) noexcept {
    if (this != &other) {
        reset();
        _module = std::exchange(other._module, nullptr);
        _key = other._key;
    }
    return *this;
}

} // namespace patchbay::chan::rdma
