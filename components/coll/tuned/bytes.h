// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/coll/typed_buffer.h"
#include "object/handle.h"

namespace patchbay::coll::tuned {

inline const Datatype& byte_type() noexcept {
    return *to_object<Datatype>(MPI_BYTE);
}

// A buffer with one block for each rank.
struct Blocks {
    void* buffer;
    MPI_Count count; // of one block
    const Datatype& type;
    void* of(int rank) const noexcept { return element(buffer, rank * count, type); }
    MPI_Count bytes() const noexcept { return count * type.size; }
};

// The data of a buffer as one block of bytes, so that messages can be any part of it: the buffer itself where its data
// is a block, and otherwise a packed copy. Members whose types differ in their layout have the same bytes.
template <class Steps>
class Bytes {
public:
    Bytes(Steps& steps, void* buffer, MPI_Count count, const Datatype& type) noexcept
        : _steps(steps),
          _buffer(buffer),
          _count(count),
          _type(type),
          _packed(!type.dense),
          _data(
              _packed ? steps.scratch(size(), byte_type()) : static_cast<std::byte*>(buffer) + type.true_lower_bound) {}

    MPI_Count size() const noexcept { return _count * _type.size; }
    std::byte* at(MPI_Count offset) const noexcept { return static_cast<std::byte*>(_data) + offset; }
    // Copy the data from the buffer to the block, or back, in a round of their own.
    void pack() noexcept {
        if (_packed) {
            _steps.copy(_buffer, _count, _type, _data, size(), byte_type());
            _steps.round();
        }
    }
    void unpack() noexcept {
        if (_packed) {
            _steps.round();
            _steps.copy(_data, size(), byte_type(), _buffer, _count, _type);
        }
    }

private:
    Steps& _steps;
    void* const _buffer;
    const MPI_Count _count;
    const Datatype& _type;
    const bool _packed;
    void* const _data;
};

// The lowest bit that is set in a rank relative to a root: where it hangs in a binomial tree, and how many ranks hang
// below it at most. The root has the first power of two that is not less than the number of ranks.
inline int subtree_of(int relative, int ranks) noexcept {
    int mask = 1;
    while (mask < ranks && (relative & mask) == 0) {
        mask <<= 1;
    }
    return mask;
}

} // namespace patchbay::coll::tuned
