// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/coll/call.h"
#include "frameworks/coll/scratch.h"

#include <cstddef>

namespace patchbay {
class Communicator;
}

namespace patchbay::coll {

// The functions whose result is one block of elements in each member, which is what a SavedBuffer can keep.
inline constexpr FunctionSet one_block{Function::barrier, Function::bcast, Function::gather, Function::scatter,
    Function::scatterv, Function::allgather, Function::alltoall, Function::reduce, Function::allreduce,
    Function::reduce_scatter_block, Function::scan, Function::exscan};

// The data that an operation overwrites in this member, so that the operation can be run and leave no trace. Only the
// elements are kept and put back: what stands between them is never written.
class SavedBuffer {
public:
    SavedBuffer(const Call& call, const Communicator& comm) noexcept;
    // Copies the data. false: there is no memory for it.
    bool save(ScratchPool& pool) noexcept;
    // Puts the data back, after a save() that returned true.
    void restore() noexcept;

private:
    MPI_Count bytes() const noexcept { return _count * _type->size; }

    void* _buffer = nullptr;
    MPI_Count _count = 0;
    const Datatype* _type;
    Scratch _copy;
};

} // namespace patchbay::coll
