// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/osc/memory.h"

#include "core/base/round_up.h"
#include "core/memory/node_segment.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/core.h>
#include <new>

namespace patchbay::osc {

namespace {

// The first place from `place` on that is `offset` bytes behind a multiple of `alignment`.
std::byte* aligned_up(std::byte* place, std::size_t alignment, std::size_t offset) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(place) - offset;
    return place + (alignment - address % alignment) % alignment;
}

// Every mapping of a block is aligned to this, also that of another process.
constexpr std::size_t block_alignment = SharedHeap::granule;

// The C library gives large blocks an address a few bytes behind the start of a page. A copy between two places that
// are close to each other in their pages is slower, because the processor takes loads for loads of what it has just
// stored (components/common/window_copy.h). So the memory of a window begins in the middle of a page, unless it is so
// small that a page more counts.
constexpr std::size_t page = 4096;
constexpr std::size_t shifted_from = 4 * page;

} // namespace

Result<std::unique_ptr<Memory>> Memory::allocate(
    NodeSegment* segment, std::size_t bytes, std::size_t alignment, bool must_be_shared) {
    std::unique_ptr<Memory> memory(new (std::nothrow) Memory);
    if (memory == nullptr) {
        return Error{Errc::out_of_memory, "out of memory for a window"};
    }
    if (bytes == 0) {
        return memory;
    }
    Error refused{Errc::out_of_memory, "a window of shared memory needs the memory that the processes of a node share"};
    if (segment != nullptr) {
        const bool shifted = bytes >= shifted_from && alignment <= page / 2;
        const std::size_t multiple = shifted ? page : alignment;
        const std::size_t slack = multiple > block_alignment ? multiple : 0;
        auto block = bytes > SIZE_MAX - slack
            ? Result<SharedBlock>(Error{Errc::out_of_memory, fmt::format("no window can have {} bytes", bytes)})
            : segment->heap().alloc(bytes + slack, segment->slot());
        if (block) {
            memory->_segment = segment;
            memory->_block = block->address;
            memory->_base = aligned_up(block->bytes.data(), multiple, shifted ? page / 2 : 0);
            memory->_address = block->address + SharedAddress(memory->_base - block->bytes.data());
            return memory;
        }
        if (block.error().code != Errc::out_of_memory) {
            return block.error();
        }
        refused = block.error();
    }
    if (must_be_shared) {
        return refused;
    }
    const std::size_t unit = std::max(alignment, alignof(std::max_align_t));
    void* own = bytes > SIZE_MAX - unit ? nullptr : std::aligned_alloc(unit, round_up(bytes, unit));
    if (own == nullptr) {
        return Error{Errc::out_of_memory,
            fmt::format("the window needs {} bytes, which the system refuses: raise the limit of the address space "
                        "(ulimit -v) or the memory limit of the job",
                bytes)};
    }
    std::memset(own, 0, bytes);
    memory->_private = own;
    memory->_base = static_cast<std::byte*>(own);
    return memory;
}

Memory::~Memory() {
    if (_segment != nullptr) {
        _segment->heap().free(_block);
    }
    std::free(_private);
}

} // namespace patchbay::osc
