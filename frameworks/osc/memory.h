// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "core/memory/shared_heap.h"

#include <cstddef>
#include <memory>

namespace [[gnu::visibility("default")]] patchbay {

class NodeSegment;

namespace osc {

// Memory that a constructor allocates for a window: in the node segment, so that other processes of the node can map
// it, or in this process only.
class Memory {
public:
    // `segment` may be null: then the memory is private. So it is when the segment has no room for more blocks, unless
    // `must_be_shared`. `bytes` may be 0. `alignment` is a power of two. The memory contains zeros, is taken at once (a
    // touch cannot raise SIGBUS), and is freed by the destructor. Errc::out_of_memory names size, need and remedy.
    static Result<std::unique_ptr<Memory>> allocate(
        NodeSegment* segment, std::size_t bytes, std::size_t alignment, bool must_be_shared);
    ~Memory();
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    std::byte* base() const noexcept { return _base; }
    // The block of the node segment stays allocated until the job ends: other processes may still access it.
    void keep_block() noexcept { _segment = nullptr; }
    // The place of base() for the processes of the segment; 0: private memory, or none.
    SharedAddress address() const noexcept { return _address; }

private:
    Memory() = default;
    NodeSegment* _segment = nullptr;
    SharedAddress _block = 0;
    SharedAddress _address = 0;
    std::byte* _base = nullptr;
    void* _private = nullptr;
};

} // namespace osc
} // namespace patchbay
