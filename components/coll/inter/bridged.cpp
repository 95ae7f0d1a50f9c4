// SPDX-License-Identifier: BSD-3-Clause
// What one side combines or spreads, and its leader takes across.
#include "components/coll/inter/inter.h"
#include "frameworks/coll/tags.h"
#include "frameworks/coll/transfer.h"
#include "frameworks/coll/typed_buffer.h"

namespace patchbay::coll::inter {

namespace {

// The other side's combined contributions, in `result` at the leader of each side.
int exchange_partial_results(Function function, const void* send, void* result, MPI_Count count, const Datatype& type,
    const Op& op, Communicator& comm) noexcept {
    const bool leads = comm.rank == leader;
    TypedBuffer sum(leads ? count : 0, type);
    if (!sum.valid()) {
        return MPI_ERR_NO_MEM;
    }
    const int code = within(comm, Function::reduce).reduce(send, sum.data(), count, type, op, leader, *comm.local_comm);
    if (code != MPI_SUCCESS || !leads) {
        return code;
    }
    return Transfer(comm, tag_of(function)).exchange(sum.data(), count, type, leader, result, count, type, leader);
}

} // namespace

int InterModule::barrier(Communicator& comm) noexcept {
    const Datatype& byte = *to_object<Datatype>(MPI_BYTE);
    int code = within(comm, Function::barrier).barrier(*comm.local_comm);
    if (code == MPI_SUCCESS && comm.rank == leader) {
        code = Transfer(comm, tag_of(Function::barrier)).exchange(nullptr, 0, byte, leader, nullptr, 0, byte, leader);
    }
    std::byte signal{};
    return code != MPI_SUCCESS ? code : within(comm, Function::bcast).bcast(&signal, 1, byte, leader, *comm.local_comm);
}

int InterModule::bcast(void* buffer, MPI_Count count, const Datatype& type, int root, Communicator& comm) noexcept {
    const Transfer transfer(comm, tag_of(Function::bcast));
    if (root == MPI_PROC_NULL) {
        return MPI_SUCCESS;
    }
    if (root == MPI_ROOT) {
        return transfer.send(buffer, count, type, leader);
    }
    const int code = comm.rank == leader ? transfer.recv(buffer, count, type, root) : MPI_SUCCESS;
    return code != MPI_SUCCESS ? code
                               : within(comm, Function::bcast).bcast(buffer, count, type, leader, *comm.local_comm);
}

int InterModule::reduce(const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, int root,
    Communicator& comm) noexcept {
    const Transfer transfer(comm, tag_of(Function::reduce));
    if (root == MPI_PROC_NULL) {
        return MPI_SUCCESS;
    }
    if (root == MPI_ROOT) {
        return transfer.recv(recv, count, type, leader);
    }
    const bool leads = comm.rank == leader;
    TypedBuffer sum(leads ? count : 0, type);
    if (!sum.valid()) {
        return MPI_ERR_NO_MEM;
    }
    const int code = within(comm, Function::reduce).reduce(send, sum.data(), count, type, op, leader, *comm.local_comm);
    return code != MPI_SUCCESS || !leads ? code : transfer.send(sum.data(), count, type, root);
}

int InterModule::allreduce(
    const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    const int code = exchange_partial_results(Function::allreduce, send, recv, count, type, op, comm);
    return code != MPI_SUCCESS ? code
                               : within(comm, Function::bcast).bcast(recv, count, type, leader, *comm.local_comm);
}

int InterModule::reduce_scatter(
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
    TypedBuffer total(comm.rank == leader ? first[size] : 0, type);
    if (!total.valid()) {
        return MPI_ERR_NO_MEM;
    }
    const int code =
        exchange_partial_results(Function::reduce_scatter, send, total.data(), first[size], type, op, comm);
    if (code != MPI_SUCCESS) {
        return code;
    }
    return within(comm, Function::scatterv)
        .scatterv(total.data(), counts, CountArray(first.get()), type, recv, counts[std::size_t(comm.rank)], type,
            leader, *comm.local_comm);
}

int InterModule::reduce_scatter_block(
    const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    const MPI_Count all = count * comm.size;
    TypedBuffer total(comm.rank == leader ? all : 0, type);
    if (!total.valid()) {
        return MPI_ERR_NO_MEM;
    }
    const int code = exchange_partial_results(Function::reduce_scatter_block, send, total.data(), all, type, op, comm);
    if (code != MPI_SUCCESS) {
        return code;
    }
    return within(comm, Function::scatter)
        .scatter(total.data(), count, type, recv, count, type, leader, *comm.local_comm);
}

} // namespace patchbay::coll::inter
