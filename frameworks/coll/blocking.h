// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/coll/coll.h"

namespace patchbay::coll {

// Calls the blocking function of a module with the arguments of a call. `function` is call.function as a constant, so
// that the call costs no more than one of the function itself.
template <Function function>
[[gnu::always_inline]] inline int run_blocking(Module& module, const Call& call, Communicator& comm) noexcept {
    if constexpr (function == Function::barrier) {
        return module.barrier(comm);
    } else if constexpr (function == Function::bcast) {
        return module.bcast(call.recv, call.recv_count, *call.recv_type, call.root, comm);
    } else if constexpr (function == Function::gather) {
        return module.gather(
            call.send, call.send_count, *call.send_type, call.recv, call.recv_count, *call.recv_type, call.root, comm);
    } else if constexpr (function == Function::gatherv) {
        return module.gatherv(call.send, call.send_count, *call.send_type, call.recv, call.recv_counts,
            call.recv_displacements, *call.recv_type, call.root, comm);
    } else if constexpr (function == Function::scatter) {
        return module.scatter(
            call.send, call.send_count, *call.send_type, call.recv, call.recv_count, *call.recv_type, call.root, comm);
    } else if constexpr (function == Function::scatterv) {
        return module.scatterv(call.send, call.send_counts, call.send_displacements, *call.send_type, call.recv,
            call.recv_count, *call.recv_type, call.root, comm);
    } else if constexpr (function == Function::allgather) {
        return module.allgather(
            call.send, call.send_count, *call.send_type, call.recv, call.recv_count, *call.recv_type, comm);
    } else if constexpr (function == Function::allgatherv) {
        return module.allgatherv(call.send, call.send_count, *call.send_type, call.recv, call.recv_counts,
            call.recv_displacements, *call.recv_type, comm);
    } else if constexpr (function == Function::alltoall) {
        return module.alltoall(
            call.send, call.send_count, *call.send_type, call.recv, call.recv_count, *call.recv_type, comm);
    } else if constexpr (function == Function::alltoallv) {
        return module.alltoallv(call.send, call.send_counts, call.send_displacements, *call.send_type, call.recv,
            call.recv_counts, call.recv_displacements, *call.recv_type, comm);
    } else if constexpr (function == Function::alltoallw) {
        return module.alltoallw(call.send, call.send_side(), call.recv, call.recv_side(), comm);
    } else if constexpr (function == Function::reduce) {
        return module.reduce(call.send, call.recv, call.recv_count, *call.recv_type, *call.op, call.root, comm);
    } else if constexpr (function == Function::allreduce) {
        return module.allreduce(call.send, call.recv, call.recv_count, *call.recv_type, *call.op, comm);
    } else if constexpr (function == Function::reduce_scatter) {
        return module.reduce_scatter(call.send, call.recv, call.recv_counts, *call.recv_type, *call.op, comm);
    } else if constexpr (function == Function::reduce_scatter_block) {
        return module.reduce_scatter_block(call.send, call.recv, call.recv_count, *call.recv_type, *call.op, comm);
    } else if constexpr (function == Function::scan) {
        return module.scan(call.send, call.recv, call.recv_count, *call.recv_type, *call.op, comm);
    } else if constexpr (function == Function::exscan) {
        return module.exscan(call.send, call.recv, call.recv_count, *call.recv_type, *call.op, comm);
    } else {
        return module.blocking(call, comm);
    }
}

} // namespace patchbay::coll
