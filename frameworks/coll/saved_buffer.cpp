// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/coll/saved_buffer.h"

#include "object/communicator.h"
#include "object/typed_copy.h"

namespace patchbay::coll {

namespace {

const Datatype& byte_type() noexcept {
    return *to_object<Datatype>(MPI_BYTE);
}

// The elements that the operation writes in this member; 0: none, and then the buffer need not be one.
MPI_Count elements_written(const Call& call, const Communicator& comm) noexcept {
    const bool is_root = comm.rank == call.root;
    switch (call.function) {
    case Function::barrier:
        return 0;
    case Function::bcast:
        return is_root ? 0 : call.recv_count;
    case Function::scatter:
    case Function::scatterv:
        return call.recv == MPI_IN_PLACE ? 0 : call.recv_count;
    case Function::gather:
        return is_root ? call.recv_count * comm.size : 0;
    case Function::reduce:
        return is_root ? call.recv_count : 0;
    case Function::allgather:
    case Function::alltoall:
        return call.recv_count * comm.size;
    case Function::reduce_scatter_block: // in place, the contribution for all members is there, and may be used as room
        return call.send == MPI_IN_PLACE ? call.recv_count * comm.size : call.recv_count;
    case Function::exscan: // the receive buffer of rank 0 is not significant
        return comm.rank == 0 && call.send != MPI_IN_PLACE ? 0 : call.recv_count;
    default:
        return call.recv_count;
    }
}

} // namespace

SavedBuffer::SavedBuffer(const Call& call, const Communicator& comm) noexcept
    : _count(elements_written(call, comm)),
      _type(_count > 0 ? call.recv_type : &byte_type()) {
    _buffer = _count > 0 ? call.recv : nullptr;
}

bool SavedBuffer::save(ScratchPool& pool) noexcept {
    if (bytes() == 0) {
        return true;
    }
    _copy = Scratch(pool, std::size_t(bytes()));
    return _copy && typed_copy(_buffer, _count, *_type, _copy.data(), bytes(), byte_type()) == MPI_SUCCESS;
}

void SavedBuffer::restore() noexcept {
    if (bytes() > 0) {
        typed_copy(_copy.data(), bytes(), byte_type(), _buffer, _count, *_type);
    }
}

} // namespace patchbay::coll
