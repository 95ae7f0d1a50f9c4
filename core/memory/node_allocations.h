// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/memory/node_segment.h"

#include <array>
#include <cstddef>
#include <mutex>
#include <unordered_map>

namespace [[gnu::visibility("default")]] patchbay {

// Blocks of the node segment that the program has asked for by MPI_Alloc_mem. Other processes of the node can map them,
// so that a channel or a window writes to them without a copy in between. Thread-safe; of the process, because a block
// may be older than the library's present generation: the program may use and free it after MPI_Finalize.
//
// Blocks that the program has freed are kept for its next calls: taking memory from the system and giving it back
// takes a thousand times as long as the rest of MPI_Alloc_mem. They go back when there are too many of them, when the
// heap of this process finds no memory, and with the segment.
class NodeAllocations {
public:
    static NodeAllocations& get() noexcept;

    // A block below this is not worth its place: messages that short do not go directly to the buffer.
    static constexpr std::size_t least = 4096;

    // How many freed blocks are kept.
    static constexpr std::size_t most_kept = 64;

    // The library has come up; blocks of up to `most` bytes come from `segment`. Of those that are freed, `kept` bytes
    // are kept.
    void attach(NodeSegment& segment, std::size_t most, std::size_t kept) noexcept;
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
        std::size_t bytes;
    };
    using Blocks = std::unordered_map<void*, Block>;
    // nullptr: none of them has this size.
    void* take_kept(std::size_t bytes) noexcept;
    void keep(Blocks::node_type freed) noexcept;
    // The `count` oldest ones go back to the heap.
    void drop(std::size_t count) noexcept;
    // Whether there were any.
    bool drop_all() noexcept;
    // Whether a block of that size may be taken from the table of the heap's chunks.
    bool has_chunk_for(std::size_t bytes) noexcept;

    std::recursive_mutex _mutex; // an allocation that finds no memory calls drop_all()
    NodeSegment* _segment = nullptr;
    std::size_t _most = 0;
    Blocks _blocks; // that the program has
    std::size_t _bytes_to_keep = 0;
    std::size_t _bytes_kept = 0;
    std::size_t _kept_blocks = 0;
    std::array<Blocks::node_type, most_kept> _kept; // the last one freed is the last one
};

} // namespace patchbay
