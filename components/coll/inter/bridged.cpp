// SPDX-License-Identifier: BSD-3-Clause
// What one side combines or spreads, and its leader takes across.
#include "components/coll/inter/inter.h"
#include "frameworks/coll/immediate.h"
#include "frameworks/coll/schedule.h"

#include <memory>
#include <new>

namespace patchbay::coll::inter {

namespace {

// An operation of the local group, of which each one of the intercommunicator's is made. After an error a process takes
// part with no elements, so that the processes that wait for its data return an error, too.
void within(Immediate& steps, const Call& call) noexcept {
    Communicator& local = *steps.comm().local_comm;
    Module& module = (*local.coll)[call.function];
    if (steps.code() == MPI_SUCCESS) [[likely]] {
        steps.fail(module.run_blocking(call, local));
    } else {
        module.blocking_failed(call, local, steps.code());
    }
}
void within(Schedule& schedule, const Call& call) noexcept {
    schedule.fail(plan_part(call, *schedule.comm().local_comm, schedule));
    schedule.round();
}

// The local group's contributions, combined at its leader. `call`: the reduction.
template <class Steps>
void reduce_within(Steps& steps, const Call& call, MPI_Count count, void* result) noexcept {
    Call part = call;
    part.function = Function::reduce;
    part.recv = result;
    part.recv_count = count;
    part.recv_counts = {};
    part.root = leader;
    within(steps, part);
}

template <class Steps>
void bcast_within(Steps& steps, void* buffer, MPI_Count count, const Datatype& type) noexcept {
    Call part;
    part.function = Function::bcast;
    part.recv = buffer;
    part.recv_count = count;
    part.recv_type = &type;
    part.root = leader;
    within(steps, part);
}

// The other side's combined contributions, in `result` at the leader of each side.
template <class Steps>
void exchange_partial_results(Steps& steps, const Call& call, MPI_Count count, void* result) noexcept {
    const bool is_leader = steps.comm().rank == leader;
    const Datatype& type = *call.recv_type;
    void* sum = steps.scratch(is_leader ? count : 0, type);
    reduce_within(steps, call, count, sum);
    if (is_leader) {
        steps.exchange(sum, count, type, leader, result, count, type, leader);
        steps.round();
    }
}

template <class Steps>
void barrier(Steps& steps) noexcept {
    const Datatype& byte = *to_object<Datatype>(MPI_BYTE);
    void* signal = steps.scratch(1, byte);
    within(steps, Call{});
    if (steps.comm().rank == leader) {
        // One element, so that none is an error: that of the other side.
        void* own = steps.scratch(1, byte);
        steps.exchange(own, 1, byte, leader, signal, 1, byte, leader);
        steps.round();
    }
    bcast_within(steps, signal, 1, byte);
}

template <class Steps>
void bcast(Steps& steps, const Call& call) noexcept {
    if (call.root == MPI_PROC_NULL) {
        return;
    }
    if (call.root == MPI_ROOT) {
        steps.send(call.recv, call.recv_count, *call.recv_type, leader);
        return;
    }
    if (steps.comm().rank == leader) {
        steps.recv(call.recv, call.recv_count, *call.recv_type, call.root);
        steps.round();
    }
    bcast_within(steps, call.recv, call.recv_count, *call.recv_type);
}

template <class Steps>
void reduce(Steps& steps, const Call& call) noexcept {
    if (call.root == MPI_PROC_NULL) {
        return;
    }
    if (call.root == MPI_ROOT) {
        steps.recv(call.recv, call.recv_count, *call.recv_type, leader);
        return;
    }
    const bool is_leader = steps.comm().rank == leader;
    void* sum = steps.scratch(is_leader ? call.recv_count : 0, *call.recv_type);
    reduce_within(steps, call, call.recv_count, sum);
    if (is_leader) {
        steps.send(sum, call.recv_count, *call.recv_type, call.root);
    }
}

template <class Steps>
void allreduce(Steps& steps, const Call& call) noexcept {
    exchange_partial_results(steps, call, call.recv_count, call.recv);
    bcast_within(steps, call.recv, call.recv_count, *call.recv_type);
}

// `part`: a scatter or scatterv of the local group, without its buffers, types and root.
template <class Steps>
void reduce_and_scatter(Steps& steps, const Call& call, MPI_Count all, Call part) noexcept {
    void* total = steps.scratch(steps.comm().rank == leader ? all : 0, *call.recv_type);
    exchange_partial_results(steps, call, all, total);
    part.send = total;
    part.send_type = call.recv_type;
    part.recv = call.recv;
    part.recv_type = call.recv_type;
    part.root = leader;
    within(steps, part);
}

template <class Steps>
void reduce_scatter_block(Steps& steps, const Call& call) noexcept {
    Call part;
    part.function = Function::scatter;
    part.send_count = call.recv_count;
    part.recv_count = call.recv_count;
    reduce_and_scatter(steps, call, call.recv_count * steps.comm().size, part);
}

template <class Steps>
void reduce_scatter(Steps& steps, const Call& call) noexcept {
    const auto size = std::size_t(steps.comm().size);
    const std::unique_ptr<MPI_Count[]> first(new (std::nothrow) MPI_Count[size + 1]);
    if (!first) {
        steps.fail(MPI_ERR_NO_MEM);
    }
    MPI_Count all = 0;
    for (std::size_t rank = 0; rank < size; ++rank) {
        if (first) {
            first[rank] = all;
        }
        all += call.recv_counts[rank];
    }
    Call part;
    part.function = Function::scatterv;
    part.send_counts = call.recv_counts;
    part.send_displacements = first ? CountArray(first.get()) : CountArray();
    part.recv_count = call.recv_counts[std::size_t(steps.comm().rank)];
    reduce_and_scatter(steps, call, all, part);
}

} // namespace

template <class Steps>
void bridged(Steps& steps, const Call& call) noexcept {
    switch (call.function) {
    case Function::barrier:
        barrier(steps);
        break;
    case Function::bcast:
        bcast(steps, call);
        break;
    case Function::reduce:
        reduce(steps, call);
        break;
    case Function::allreduce:
        allreduce(steps, call);
        break;
    case Function::reduce_scatter:
        reduce_scatter(steps, call);
        break;
    default:
        reduce_scatter_block(steps, call);
        break;
    }
}

template void bridged(Immediate&, const Call&) noexcept;
template void bridged(Schedule&, const Call&) noexcept;

} // namespace patchbay::coll::inter
