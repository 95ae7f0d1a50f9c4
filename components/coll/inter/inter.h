// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/coll/coll.h"

namespace patchbay::coll::inter {

// Collectives between the two groups of an intercommunicator (MPI-5.0, 6.2.2 and 6.2.3). What each process has for each
// other one goes directly; what the processes of one side have in common is combined or spread within the side, by the
// collectives of its hidden intracommunicator, and crosses once, between the two leaders.
class InterModule final : public Module {
public:
    std::uint32_t provides() const noexcept override {
        return ((1u << function_count) - 1) & ~(1u << int(Function::scan)) & ~(1u << int(Function::exscan));
    }

    int barrier(Communicator&) noexcept override;
    int bcast(void* buffer, MPI_Count count, const Datatype&, int root, Communicator&) noexcept override;
    int gather(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv, MPI_Count recv_count,
        const Datatype& recv_type, int root, Communicator&) noexcept override;
    int gatherv(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv, CountArray recv_counts,
        CountArray displacements, const Datatype& recv_type, int root, Communicator&) noexcept override;
    int scatter(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv, MPI_Count recv_count,
        const Datatype& recv_type, int root, Communicator&) noexcept override;
    int scatterv(const void* send, CountArray send_counts, CountArray displacements, const Datatype& send_type,
        void* recv, MPI_Count recv_count, const Datatype& recv_type, int root, Communicator&) noexcept override;
    int allgather(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv, MPI_Count recv_count,
        const Datatype& recv_type, Communicator&) noexcept override;
    int allgatherv(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
        CountArray recv_counts, CountArray displacements, const Datatype& recv_type, Communicator&) noexcept override;
    int alltoall(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv, MPI_Count recv_count,
        const Datatype& recv_type, Communicator&) noexcept override;
    int alltoallv(const void* send, CountArray send_counts, CountArray send_displacements, const Datatype& send_type,
        void* recv, CountArray recv_counts, CountArray recv_displacements, const Datatype& recv_type,
        Communicator&) noexcept override;
    int alltoallw(const void* send, const TypedVector& send_side, void* recv, const TypedVector& recv_side,
        Communicator&) noexcept override;
    int reduce(const void* send, void* recv, MPI_Count count, const Datatype&, const Op&, int root,
        Communicator&) noexcept override;
    int allreduce(
        const void* send, void* recv, MPI_Count count, const Datatype&, const Op&, Communicator&) noexcept override;
    int reduce_scatter(
        const void* send, void* recv, CountArray counts, const Datatype&, const Op&, Communicator&) noexcept override;
    int reduce_scatter_block(
        const void* send, void* recv, MPI_Count count, const Datatype&, const Op&, Communicator&) noexcept override;
};

// In either group.
inline constexpr int leader = 0;

// The module that serves this function within the local group.
inline Module& within(Communicator& comm, Function function) noexcept {
    return (*comm.local_comm->coll)[function];
}

} // namespace patchbay::coll::inter
