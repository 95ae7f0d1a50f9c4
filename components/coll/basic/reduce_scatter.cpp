// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/basic/basic.h"
#include "frameworks/coll/tags.h"
#include "frameworks/coll/transfer.h"
#include "frameworks/coll/typed_buffer.h"

#include <memory>
#include <new>

namespace patchbay::coll::basic {

namespace {

// Each rank sends each other rank its part and combines what it receives: one pass over the data, in an order that
// differs by rank, so only for operations that commute. `code`: why this member has failed already.
template <class FirstOf, class CountOf>
int pairwise(Function function, const void* input, void* recv, const Datatype& type, const Op& op, Communicator& comm,
    FirstOf first_of, CountOf count_of, int code = MPI_SUCCESS) noexcept {
    Transfer transfer(comm, tag_of(function));
    const int size = comm.size;
    const MPI_Count own = count_of(comm.rank);
    TypedBuffer result(own, type);
    TypedBuffer incoming(own, type);
    transfer.fail(result.valid() && incoming.valid() ? code : MPI_ERR_NO_MEM);
    if (!transfer.failed()) {
        copy(element(input, first_of(comm.rank), type), own, type, result.data(), own, type);
    }
    for (int distance = 1; distance < size; ++distance) {
        const int dest = (comm.rank + distance) % size;
        const int source = (comm.rank - distance + size) % size;
        transfer.exchange(
            element(input, first_of(dest), type), count_of(dest), type, dest, incoming.data(), own, type, source);
        if (!transfer.failed() && own > 0) {
            transfer.fail(op.apply(incoming.data(), result.data(), own, type));
        }
    }
    if (!transfer.failed()) {
        copy(result.data(), own, type, recv, own, type);
    }
    return transfer.code();
}

} // namespace

int BasicModule::reduce_scatter(
    const void* send, void* recv, CountArray counts, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    const auto size = std::size_t(comm.size);
    const std::unique_ptr<MPI_Count[]> first(new (std::nothrow) MPI_Count[size + 1]);
    MPI_Count total = 0;
    for (std::size_t rank = 0; rank < size; ++rank) {
        if (first) {
            first[rank] = total;
        }
        total += counts[rank];
    }
    const void* input = send == MPI_IN_PLACE ? recv : send;
    if (op.is_commutative()) {
        return pairwise(
            Function::reduce_scatter, input, recv, type, op, comm,
            [&](int rank) { return first ? first[std::size_t(rank)] : 0; },
            [&](int rank) { return counts[std::size_t(rank)]; }, first ? MPI_SUCCESS : MPI_ERR_NO_MEM);
    }
    TypedBuffer whole(comm.rank == 0 ? total : 0, type);
    // A member that has failed takes part with no elements.
    int code = first && whole.valid() ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    code = first_error(code, reduce(input, whole.data(), code == MPI_SUCCESS ? total : 0, type, op, 0, comm));
    const bool fine = code == MPI_SUCCESS;
    return first_error(code,
        scatterv(whole.data(), fine ? counts : CountArray(), fine ? CountArray(first.get()) : CountArray(), type, recv,
            fine ? counts[std::size_t(comm.rank)] : 0, type, 0, comm));
}

int BasicModule::reduce_scatter_block(
    const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    const void* input = send == MPI_IN_PLACE ? recv : send;
    if (op.is_commutative()) {
        return pairwise(
            Function::reduce_scatter_block, input, recv, type, op, comm, [&](int rank) { return rank * count; },
            [&](int) { return count; });
    }
    const MPI_Count total = count * comm.size;
    TypedBuffer whole(comm.rank == 0 ? total : 0, type);
    // A member that has failed takes part with no elements.
    int code = whole.valid() ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    code = first_error(code, reduce(input, whole.data(), code == MPI_SUCCESS ? total : 0, type, op, 0, comm));
    const MPI_Count left = code == MPI_SUCCESS ? count : 0;
    return first_error(code, scatter(whole.data(), left, type, recv, left, type, 0, comm));
}

} // namespace patchbay::coll::basic
