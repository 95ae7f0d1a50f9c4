// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/coll/scratch.h"
#include "object/convertor.h"
#include "object/datatype.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

namespace patchbay::coll {

// The address of element `index` of a buffer of that type.
inline void* element(void* buffer, MPI_Count index, const Datatype& type) noexcept {
    return static_cast<std::byte*>(buffer) + index * type.extent;
}
inline const void* element(const void* buffer, MPI_Count index, const Datatype& type) noexcept {
    return static_cast<const std::byte*>(buffer) + index * type.extent;
}

// Room for `count` elements of a type. data() is where element 0 would stand (the type's lower bound may be anywhere),
// nullptr when memory is exhausted. A few hundred bytes are in the object itself.
class TypedBuffer {
public:
    TypedBuffer(ScratchPool& pool, MPI_Count count, const Datatype& type) noexcept {
        const std::size_t bytes =
            count > 0 ? std::size_t(type.true_extent) + std::size_t(count - 1) * std::size_t(std::abs(type.extent)) : 0;
        std::byte* memory = _small.data();
        if (bytes > _small.size()) {
            _large = Scratch(pool, bytes);
            memory = _large.data();
        }
        if (memory == nullptr) {
            return;
        }
        const MPI_Aint below = type.extent < 0 ? MPI_Aint(count - 1) * type.extent : 0;
        _data = memory - type.true_lower_bound - below;
        _valid = true;
    }
    bool valid() const noexcept { return _valid; }
    void* data() noexcept { return _data; }

private:
    alignas(std::max_align_t) std::array<std::byte, 512> _small;
    Scratch _large;
    std::byte* _data = nullptr;
    bool _valid = false;
};

// Local copy between two typed buffers of the same signature; what does not fit in the target is left out. Returns what
// a message of that length would: MPI_ERR_TRUNCATE when the target has less room, MPI_ERR_COUNT when it has more.
inline int copy(const void* source, MPI_Count source_count, const Datatype& source_type, void* target,
    MPI_Count target_count, const Datatype& target_type) noexcept {
    const MPI_Count bytes = source_count * source_type.size;
    if (source_type.dense && target_type.dense && bytes == target_count * target_type.size) [[likely]] {
        if (bytes > 0) {
            std::memmove(static_cast<std::byte*>(target) + target_type.true_lower_bound,
                static_cast<const std::byte*>(source) + source_type.true_lower_bound, std::size_t(bytes));
        }
        return MPI_SUCCESS;
    }
    Convertor from(source_type, source_count, source);
    Convertor to(target_type, target_count, target);
    const std::size_t total = std::min(from.total(), to.total());
    const int code = to.total() < from.total() ? MPI_ERR_TRUNCATE
        : from.total() < to.total()            ? MPI_ERR_COUNT
                                               : MPI_SUCCESS;
    if (std::byte* block = to.contiguous(); block != nullptr || total == 0) {
        from.pack(block, total);
        return code;
    }
    if (const std::byte* block = from.contiguous(); block != nullptr) {
        to.unpack(block, total);
        return code;
    }
    std::array<std::byte, 4096> chunk;
    for (std::size_t done = 0; done < total;) {
        const std::size_t n = from.pack(chunk.data(), std::min(chunk.size(), total - done));
        to.unpack(chunk.data(), n);
        done += n;
    }
    return code;
}

} // namespace patchbay::coll
