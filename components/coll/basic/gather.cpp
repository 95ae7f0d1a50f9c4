// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/basic/basic.h"
#include "frameworks/coll/batch.h"
#include "frameworks/coll/tags.h"
#include "frameworks/coll/typed_buffer.h"

namespace patchbay::coll::basic {

namespace {

// The root receives from each rank into the address `block(rank)`, and copies its own part.
struct Block {
    void* address;
    MPI_Count count;
};

template <class BlockOf>
int gather_linear(Function function, const void* send, MPI_Count send_count, const Datatype& send_type,
    const Datatype& recv_type, int root, Communicator& comm, BlockOf block_of) noexcept {
    Transfer transfer(comm, tag_of(function));
    if (comm.rank != root) {
        return transfer.send(send, send_count, send_type, root);
    }
    Batch batch(transfer);
    for (int rank = 0; rank < comm.size; ++rank) {
        const Block block = block_of(rank);
        if (rank == root) {
            if (send != MPI_IN_PLACE) {
                transfer.fail(copy(send, send_count, send_type, block.address, block.count, recv_type));
            }
            continue;
        }
        batch.irecv(block.address, block.count, recv_type, rank);
    }
    return batch.finish();
}

// The same the other way round.
template <class BlockOf>
int scatter_linear(Function function, const Datatype& send_type, void* recv, MPI_Count recv_count,
    const Datatype& recv_type, int root, Communicator& comm, BlockOf block_of) noexcept {
    Transfer transfer(comm, tag_of(function));
    if (comm.rank != root) {
        return transfer.recv(recv, recv_count, recv_type, root);
    }
    Batch batch(transfer);
    for (int rank = 0; rank < comm.size; ++rank) {
        const Block block = block_of(rank);
        if (rank == root) {
            if (recv != MPI_IN_PLACE) {
                transfer.fail(copy(block.address, block.count, send_type, recv, recv_count, recv_type));
            }
            continue;
        }
        batch.isend(block.address, block.count, send_type, rank);
    }
    return batch.finish();
}

} // namespace

int BasicModule::gather(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
    MPI_Count recv_count, const Datatype& recv_type, int root, Communicator& comm) noexcept {
    return gather_linear(Function::gather, send, send_count, send_type, recv_type, root, comm, [&](int rank) {
        return Block{element(recv, rank * recv_count, recv_type), recv_count};
    });
}

int BasicModule::gatherv(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
    CountArray recv_counts, CountArray displacements, const Datatype& recv_type, int root,
    Communicator& comm) noexcept {
    return gather_linear(Function::gatherv, send, send_count, send_type, recv_type, root, comm, [&](int rank) {
        const auto r = std::size_t(rank);
        return Block{element(recv, displacements[r], recv_type), recv_counts[r]};
    });
}

int BasicModule::scatter(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
    MPI_Count recv_count, const Datatype& recv_type, int root, Communicator& comm) noexcept {
    void* source = const_cast<void*>(send);
    return scatter_linear(Function::scatter, send_type, recv, recv_count, recv_type, root, comm, [&](int rank) {
        return Block{element(source, rank * send_count, send_type), send_count};
    });
}

int BasicModule::scatterv(const void* send, CountArray send_counts, CountArray displacements, const Datatype& send_type,
    void* recv, MPI_Count recv_count, const Datatype& recv_type, int root, Communicator& comm) noexcept {
    void* source = const_cast<void*>(send);
    return scatter_linear(Function::scatterv, send_type, recv, recv_count, recv_type, root, comm, [&](int rank) {
        const auto r = std::size_t(rank);
        return Block{element(source, displacements[r], send_type), send_counts[r]};
    });
}

} // namespace patchbay::coll::basic
