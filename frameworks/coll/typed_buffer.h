// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/coll/scratch.h"
#include "object/datatype.h"

#include <algorithm>
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

// The memory that `count` elements of a type take, and where element 0 stands in it: aligned as the memory is, so that
// an op of the program finds each member of a structure as aligned as in a variable of its own. Such an op may read and
// write whole structures of which the type has some members only: what is between the bounds of an element belongs to
// it, also where that is before or behind all data.
struct Room {
    std::size_t bytes;
    MPI_Aint element_0; // from the beginning of the memory

    static constexpr MPI_Aint alignment = alignof(std::max_align_t);
};
inline Room room_for(MPI_Count count, const Datatype& type) noexcept {
    if (count <= 0) {
        return {0, 0};
    }
    // With a negative extent element 0 is the last one in memory.
    const MPI_Aint below = type.extent < 0 ? MPI_Aint(count - 1) * type.extent : 0;
    const MPI_Aint upper_bound = type.lower_bound + type.extent;
    const MPI_Aint first = std::min({type.lower_bound, upper_bound, type.true_lower_bound});
    const MPI_Aint last = std::max({type.lower_bound, upper_bound, type.true_lower_bound + type.true_extent});
    const MPI_Aint begin = first + below;
    const MPI_Aint unused = begin & (Room::alignment - 1);
    return {std::size_t(unused + (last - first)) + std::size_t(count - 1) * std::size_t(std::abs(type.extent)),
        unused - begin};
}

// Room for `count` elements of a type. data() is where element 0 would stand (the type's lower bound may be anywhere),
// nullptr when memory is exhausted. A few hundred bytes are in the object itself.
class TypedBuffer {
public:
    TypedBuffer(ScratchPool& pool, MPI_Count count, const Datatype& type) noexcept {
        const Room room = room_for(count, type);
        std::byte* memory = _small.data();
        if (room.bytes > _small.size()) {
            _large = Scratch(pool, room.bytes);
            memory = _large.data();
        }
        if (memory == nullptr) {
            return;
        }
        _data = memory + room.element_0;
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
