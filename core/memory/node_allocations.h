// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/memory/node_segment.h"

#include <cstddef>
#include <mutex>
#include <unordered_map>

namespace [[gnu::visibility("default")]] patchbay {

// Blocks of the node segment that the program has asked for by MPI_Alloc_mem. Other processes of the node can map them,
// so that a channel or a window writes to them without a copy in between. Thread-safe; of the process, because a block
// may be older than the library's present generation: the program may use and free it after MPI_Finalize.
class NodeAllocations {
public:
    static NodeAllocations& get() noexcept;

    // A block below this is not worth its place: messages that short do not go directly to the buffer.
    static constexpr std::size_t least = 4096;

    // The library has come up; blocks of up to `most` bytes come from `segment`.
    void attach(NodeSegment& segment, std::size_t most) noexcept;
    // The segment is about to be unmapped in this process. What holds a block remains mapped until the process ends.
    void detach() noexcept;

    // nullptr: the caller takes ordinary memory, because the block would be too short or too long, no process shares
    // the segment, or it has no room.
    void* allocate(std::size_t bytes, std::size_t alignment) noexcept;
    // false: `memory` is not from here.
    bool free(void* memory) noexcept;

private:
    struct Block {
        SharedAddress address;
        std::uint64_t segment; // NodeSegment::id()
    };
    // Whether a block of that size may be taken from the table of the heap's chunks.
    bool has_chunk_for(std::size_t bytes) noexcept;

    std::mutex _mutex;
    NodeSegment* _segment = nullptr;
    std::size_t _most = 0;
    std::unordered_map<void*, Block> _blocks;
};

} // namespace patchbay
