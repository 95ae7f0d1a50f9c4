// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/basic/basic.h"
#include "frameworks/coll/immediate.h"
#include "frameworks/coll/schedule.h"

namespace patchbay::coll::basic {

namespace {

struct Block {
    void* address;
    MPI_Count count;
};

// Where each rank has its block in the buffer of the root.
auto equal_blocks(const void* buffer, MPI_Count count, const Datatype& type) noexcept {
    return [=, &type](int rank) { return Block{const_cast<void*>(element(buffer, rank * count, type)), count}; };
}
auto placed_blocks(const void* buffer, CountArray counts, CountArray displacements, const Datatype& type) noexcept {
    return [=, &type](int rank) {
        const auto r = std::size_t(rank);
        return Block{const_cast<void*>(element(buffer, displacements[r], type)), counts[r]};
    };
}

// The root receives from each rank into its block, and copies its own part.
template <class Steps, class BlockOf>
void gather_linear(Steps& steps, const void* send, MPI_Count send_count, const Datatype& send_type,
    const Datatype& recv_type, int root, BlockOf block_of) noexcept {
    const Communicator& comm = steps.comm();
    if (comm.rank != root) {
        steps.send(send, send_count, send_type, root);
        return;
    }
    typename Steps::Batch batch(steps);
    for (int rank = 0; rank < comm.size; ++rank) {
        const Block block = block_of(rank);
        if (rank != root) {
            batch.irecv(block.address, block.count, recv_type, rank);
        } else if (send != MPI_IN_PLACE) {
            steps.copy(send, send_count, send_type, block.address, block.count, recv_type);
        }
    }
    batch.finish();
}

// The same the other way round.
template <class Steps, class BlockOf>
void scatter_linear(Steps& steps, const Datatype& send_type, void* recv, MPI_Count recv_count,
    const Datatype& recv_type, int root, BlockOf block_of) noexcept {
    const Communicator& comm = steps.comm();
    if (comm.rank != root) {
        steps.recv(recv, recv_count, recv_type, root);
        return;
    }
    typename Steps::Batch batch(steps);
    for (int rank = 0; rank < comm.size; ++rank) {
        const Block block = block_of(rank);
        if (rank != root) {
            batch.isend(block.address, block.count, send_type, rank);
        } else if (recv != MPI_IN_PLACE) {
            steps.copy(block.address, block.count, send_type, recv, recv_count, recv_type);
        }
    }
    batch.finish();
}

} // namespace

int BasicModule::gather(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
    MPI_Count recv_count, const Datatype& recv_type, int root, Communicator& comm) noexcept {
    Immediate steps(comm, Function::gather);
    gather_linear(steps, send, send_count, send_type, recv_type, root, equal_blocks(recv, recv_count, recv_type));
    return steps.code();
}

int BasicModule::gatherv(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
    CountArray recv_counts, CountArray displacements, const Datatype& recv_type, int root,
    Communicator& comm) noexcept {
    Immediate steps(comm, Function::gatherv);
    gather_linear(steps, send, send_count, send_type, recv_type, root,
        placed_blocks(recv, recv_counts, displacements, recv_type));
    return steps.code();
}

int BasicModule::scatter(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
    MPI_Count recv_count, const Datatype& recv_type, int root, Communicator& comm) noexcept {
    Immediate steps(comm, Function::scatter);
    scatter_linear(steps, send_type, recv, recv_count, recv_type, root, equal_blocks(send, send_count, send_type));
    return steps.code();
}

int BasicModule::scatterv(const void* send, CountArray send_counts, CountArray displacements, const Datatype& send_type,
    void* recv, MPI_Count recv_count, const Datatype& recv_type, int root, Communicator& comm) noexcept {
    Immediate steps(comm, Function::scatterv);
    scatter_linear(steps, send_type, recv, recv_count, recv_type, root,
        placed_blocks(send, send_counts, displacements, send_type));
    return steps.code();
}

void BasicModule::plan_gather(const Call& call, Schedule& schedule) const noexcept {
    if (call.function == Function::gather) {
        gather_linear(schedule, call.send, call.send_count, *call.send_type, *call.recv_type, call.root,
            equal_blocks(call.recv, call.recv_count, *call.recv_type));
    } else {
        gather_linear(schedule, call.send, call.send_count, *call.send_type, *call.recv_type, call.root,
            placed_blocks(call.recv, call.recv_counts, call.recv_displacements, *call.recv_type));
    }
}

void BasicModule::plan_scatter(const Call& call, Schedule& schedule) const noexcept {
    if (call.function == Function::scatter) {
        scatter_linear(schedule, *call.send_type, call.recv, call.recv_count, *call.recv_type, call.root,
            equal_blocks(call.send, call.send_count, *call.send_type));
    } else {
        scatter_linear(schedule, *call.send_type, call.recv, call.recv_count, *call.recv_type, call.root,
            placed_blocks(call.send, call.send_counts, call.send_displacements, *call.send_type));
    }
}

} // namespace patchbay::coll::basic
