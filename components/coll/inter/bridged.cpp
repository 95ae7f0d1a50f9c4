// SPDX-License-Identifier: BSD-3-Clause
// What one side combines or spreads, and its leader takes across.
#include "components/coll/inter/inter.h"
#include "frameworks/coll/tags.h"
#include "frameworks/coll/transfer.h"
#include "frameworks/coll/typed_buffer.h"

namespace patchbay::coll::inter {

namespace {

// All of these go through each step that other processes wait for. After an error a process takes part in the steps
// that follow with no elements, so that the processes that wait for its data return an error, too.

int reduce_within(const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm,
    int code) noexcept {
    const MPI_Count elements = code == MPI_SUCCESS ? count : 0;
    return first_error(
        code, within(comm, Function::reduce).reduce(send, recv, elements, type, op, leader, *comm.local_comm));
}

int bcast_within(void* buffer, MPI_Count count, const Datatype& type, Communicator& comm, int code) noexcept {
    const MPI_Count elements = code == MPI_SUCCESS ? count : 0;
    return first_error(code, within(comm, Function::bcast).bcast(buffer, elements, type, leader, *comm.local_comm));
}

// The other side's combined contributions, in `result` at the leader of each side. `code`: why this process has failed
// already.
int exchange_partial_results(Function function, const void* send, void* result, MPI_Count count, const Datatype& type,
    const Op& op, Communicator& comm, int code = MPI_SUCCESS) noexcept {
    const bool is_leader = comm.rank == leader;
    TypedBuffer sum(is_leader ? count : 0, type);
    code = first_error(code, sum.valid() ? MPI_SUCCESS : MPI_ERR_NO_MEM);
    code = first_error(code, reduce_within(send, sum.data(), count, type, op, comm, code));
    if (!is_leader) {
        return code;
    }
    Transfer transfer(comm, tag_of(function));
    transfer.fail(code);
    return transfer.exchange(sum.data(), count, type, leader, result, count, type, leader);
}

} // namespace

int InterModule::barrier(Communicator& comm) noexcept {
    const Datatype& byte = *to_object<Datatype>(MPI_BYTE);
    int code = within(comm, Function::barrier).barrier(*comm.local_comm);
    if (comm.rank == leader) {
        Transfer transfer(comm, tag_of(Function::barrier));
        code = first_error(code, transfer.exchange(nullptr, 0, byte, leader, nullptr, 0, byte, leader));
    }
    std::byte signal{};
    return bcast_within(&signal, 1, byte, comm, code);
}

int InterModule::bcast(void* buffer, MPI_Count count, const Datatype& type, int root, Communicator& comm) noexcept {
    Transfer transfer(comm, tag_of(Function::bcast));
    if (root == MPI_PROC_NULL) {
        return MPI_SUCCESS;
    }
    if (root == MPI_ROOT) {
        return transfer.send(buffer, count, type, leader);
    }
    if (comm.rank == leader) {
        transfer.recv(buffer, count, type, root);
    }
    return bcast_within(buffer, count, type, comm, transfer.code());
}

int InterModule::reduce(const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, int root,
    Communicator& comm) noexcept {
    Transfer transfer(comm, tag_of(Function::reduce));
    if (root == MPI_PROC_NULL) {
        return MPI_SUCCESS;
    }
    if (root == MPI_ROOT) {
        return transfer.recv(recv, count, type, leader);
    }
    const bool is_leader = comm.rank == leader;
    TypedBuffer sum(is_leader ? count : 0, type);
    transfer.fail(sum.valid() ? MPI_SUCCESS : MPI_ERR_NO_MEM);
    transfer.fail(reduce_within(send, sum.data(), count, type, op, comm, transfer.code()));
    return is_leader ? transfer.send(sum.data(), count, type, root) : transfer.code();
}

int InterModule::allreduce(
    const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    return bcast_within(
        recv, count, type, comm, exchange_partial_results(Function::allreduce, send, recv, count, type, op, comm));
}

int InterModule::reduce_scatter(
    const void* send, void* recv, CountArray counts, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    const auto size = std::size_t(comm.size);
    const std::unique_ptr<MPI_Count[]> first(new (std::nothrow) MPI_Count[size + 1]);
    MPI_Count all = 0;
    for (std::size_t rank = 0; rank < size; ++rank) {
        if (first) {
            first[rank] = all;
        }
        all += counts[rank];
    }
    TypedBuffer total(comm.rank == leader ? all : 0, type);
    int code = first && total.valid() ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    code = exchange_partial_results(Function::reduce_scatter, send, total.data(), all, type, op, comm, code);
    const bool fine = code == MPI_SUCCESS;
    return first_error(code,
        within(comm, Function::scatterv)
            .scatterv(total.data(), fine ? counts : CountArray(), fine ? CountArray(first.get()) : CountArray(), type,
                recv, fine ? counts[std::size_t(comm.rank)] : 0, type, leader, *comm.local_comm));
}

int InterModule::reduce_scatter_block(
    const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    const MPI_Count all = count * comm.size;
    TypedBuffer total(comm.rank == leader ? all : 0, type);
    int code = total.valid() ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    code = exchange_partial_results(Function::reduce_scatter_block, send, total.data(), all, type, op, comm, code);
    const MPI_Count left = code == MPI_SUCCESS ? count : 0;
    return first_error(code,
        within(comm, Function::scatter).scatter(total.data(), left, type, recv, left, type, leader, *comm.local_comm));
}

} // namespace patchbay::coll::inter
