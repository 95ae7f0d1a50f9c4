// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/check/memory_range.h"

#include "object/convertor.h"

#include <algorithm>
#include <array>
#include <sys/uio.h>
#include <vector>

namespace patchbay::check {

namespace {

struct Block {
    std::uintptr_t begin;
    std::uintptr_t end;
};

// The blocks of memory by address; empty: there are too many to compare.
std::vector<Block> blocks_of(const MemoryRange& range) {
    constexpr std::size_t most = 4096;
    std::vector<Block> blocks;
    Convertor data(*range.type, range.count, range.buffer);
    std::array<iovec, 64> vectors;
    while (data.remaining() > 0) {
        const std::size_t filled = data.next_blocks(vectors, data.remaining());
        for (std::size_t i = 0; i < filled; ++i) {
            const auto begin = reinterpret_cast<std::uintptr_t>(vectors[i].iov_base);
            blocks.push_back({begin, begin + vectors[i].iov_len});
        }
        if (blocks.size() > most) {
            return {};
        }
    }
    std::sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) { return a.begin < b.begin; });
    return blocks;
}

} // namespace

bool MemoryRange::bounds(std::uintptr_t* begin, std::uintptr_t* end) const noexcept {
    if (count <= 0 || type->size <= 0) {
        return false;
    }
    const MPI_Aint reach = (count - 1) * type->extent;
    const auto first = reinterpret_cast<std::uintptr_t>(buffer) + std::uintptr_t(type->true_lower_bound);
    *begin = first + std::uintptr_t(std::min<MPI_Aint>(reach, 0));
    *end = first + std::uintptr_t(type->true_extent) + std::uintptr_t(std::max<MPI_Aint>(reach, 0));
    return true;
}

std::size_t shared_bytes(const MemoryRange& first, const MemoryRange& second) {
    const std::vector<Block> a = blocks_of(first);
    const std::vector<Block> b = blocks_of(second);
    std::size_t shared = 0;
    for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
        const std::uintptr_t begin = std::max(i->begin, j->begin);
        const std::uintptr_t end = std::min(i->end, j->end);
        shared += begin < end ? end - begin : 0;
        i->end < j->end ? ++i : ++j;
    }
    return shared;
}

} // namespace patchbay::check
