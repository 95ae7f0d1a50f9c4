// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/round_up.h"
#include "frameworks/coll/typed_buffer.h"
#include "object/handle.h"

#include <cstddef>
#include <cstdlib>

namespace patchbay::coll {

// Scratch memory for several vectors of `count` elements, none of which shares a byte with another one. Elements may
// stand in the gaps of each other (a column of a matrix spans more than its extent), so that the element after the last
// one of a vector may be in the middle of the vector.
class Slots {
public:
    Slots() = default; // of no vector
    template <class Steps>
    Slots(Steps& steps, MPI_Count slots, MPI_Count count, const Datatype& type) noexcept {
        if (std::abs(type.extent) >= type.true_extent) {
            _first = static_cast<std::byte*>(steps.scratch(slots * count, type));
            _stride = count * type.extent;
            return;
        }
        const Room room = room_for(count, type);
        _stride = round_up(MPI_Count(room.bytes), Room::alignment);
        _first =
            static_cast<std::byte*>(steps.scratch(slots * _stride, *to_object<Datatype>(MPI_BYTE))) + room.element_0;
    }
    // Element 0 of that vector.
    void* operator[](MPI_Count slot) const noexcept { return _first + slot * _stride; }

private:
    std::byte* _first = nullptr;
    MPI_Count _stride = 0;
};

} // namespace patchbay::coll
