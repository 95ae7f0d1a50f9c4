// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/coll/scratch.h"
#include "object/datatype.h"

#include <array>
#include <cstddef>

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

} // namespace patchbay::coll
