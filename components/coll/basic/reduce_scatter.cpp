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
// differs by rank, so only for operations that commute.
template <class FirstOf, class CountOf>
int pairwise(Function function, const void* input, void* recv, const Datatype& type, const Op& op, Communicator& comm,
    FirstOf first_of, CountOf count_of) noexcept {
    const Transfer transfer(comm, tag_of(function));
    const int size = comm.size;
    const MPI_Count own = count_of(comm.rank);
    TypedBuffer result(own, type);
    TypedBuffer incoming(own, type);
    if (!result.valid() || !incoming.valid()) {
        return MPI_ERR_NO_MEM;
    }
    copy(element(input, first_of(comm.rank), type), own, type, result.data(), own, type);
    int code = MPI_SUCCESS;
    for (int distance = 1; distance < size && code == MPI_SUCCESS; ++distance) {
        const int dest = (comm.rank + distance) % size;
        const int source = (comm.rank - distance + size) % size;
        code = transfer.exchange(
            element(input, first_of(dest), type), count_of(dest), type, dest, incoming.data(), own, type, source);
        if (code == MPI_SUCCESS) {
            code = op.apply(incoming.data(), result.data(), own, type);
        }
    }
    if (code == MPI_SUCCESS) {
        copy(result.data(), own, type, recv, own, type);
    }
    return code;
}

} // namespace

int BasicModule::reduce_scatter(
    const void* send, void* recv, CountArray counts, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    const auto size = std::size_t(comm.size);
    const std::unique_ptr<MPI_Count[]> first(new (std::nothrow) MPI_Count[size + 1]);
    if (!first) {
        return MPI_ERR_NO_MEM;
    }
    first[0] = 0;
    for (std::size_t rank = 0; rank < size; ++rank) {
        first[rank + 1] = first[rank] + counts[rank];
    }
    const void* input = send == MPI_IN_PLACE ? recv : send;
    if (op.is_commutative()) {
        return pairwise(
            Function::reduce_scatter, input, recv, type, op, comm, [&](int rank) { return first[std::size_t(rank)]; },
            [&](int rank) { return counts[std::size_t(rank)]; });
    }
    TypedBuffer whole(comm.rank == 0 ? first[size] : 0, type);
    if (!whole.valid()) {
        return MPI_ERR_NO_MEM;
    }
    const int code = reduce(input, whole.data(), first[size], type, op, 0, comm);
    if (code != MPI_SUCCESS) {
        return code;
    }
    return scatterv(
        whole.data(), counts, CountArray(first.get()), type, recv, counts[std::size_t(comm.rank)], type, 0, comm);
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
    if (!whole.valid()) {
        return MPI_ERR_NO_MEM;
    }
    const int code = reduce(input, whole.data(), total, type, op, 0, comm);
    return code != MPI_SUCCESS ? code : scatter(whole.data(), count, type, recv, count, type, 0, comm);
}

} // namespace patchbay::coll::basic
