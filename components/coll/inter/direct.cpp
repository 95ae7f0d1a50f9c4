// SPDX-License-Identifier: BSD-3-Clause
// What goes from each process to each other one without a stop.
#include "components/coll/inter/inter.h"
#include "frameworks/coll/batch.h"
#include "frameworks/coll/tags.h"
#include "frameworks/coll/typed_buffer.h"

namespace patchbay::coll::inter {

namespace {

// What goes to or comes from one process of the other group.
struct Part {
    const void* address;
    MPI_Count count;
    const Datatype* type;

    void* target() const noexcept { return const_cast<void*>(address); }
};

auto equal_parts(const void* buffer, MPI_Count count, const Datatype& type) noexcept {
    return [=, &type](int rank) { return Part{element(buffer, rank * count, type), count, &type}; };
}
auto same_part(const void* buffer, MPI_Count count, const Datatype& type) noexcept {
    return [=, &type](int) { return Part{buffer, count, &type}; };
}
auto placed_parts(const void* buffer, CountArray counts, CountArray displacements, const Datatype& type) noexcept {
    return [=, &type](int rank) {
        const auto r = std::size_t(rank);
        return Part{element(buffer, displacements[r], type), counts[r], &type};
    };
}
auto typed_parts(const void* buffer, const TypedVector& side) noexcept {
    return [=](int rank) {
        const auto r = std::size_t(rank);
        return Part{static_cast<const std::byte*>(buffer) + side.displacements[r], side.counts[r],
            to_object<Datatype>(side.types[r])};
    };
}

// Each rank exchanges with each rank of the other group, one at a time, and at the same step in both groups: a rank
// that waits in some step waits for one that has finished all earlier steps.
template <class SendPart, class RecvPart>
int pairwise(Function function, Communicator& comm, SendPart send_part, RecvPart recv_part) noexcept {
    Transfer transfer(comm, tag_of(function));
    Batch receives(transfer);
    Batch sends(transfer);
    const int steps = std::max(comm.size, comm.remote_size);
    for (int step = 0; step < steps; ++step) {
        const int peer = (step - comm.rank + steps) % steps;
        if (peer >= comm.remote_size) {
            continue;
        }
        const Part incoming = recv_part(peer);
        const Part outgoing = send_part(peer);
        receives.irecv(incoming.target(), incoming.count, *incoming.type, peer);
        sends.isend(outgoing.address, outgoing.count, *outgoing.type, peer);
    }
    sends.finish();
    return receives.finish();
}

// The root has one part for each process of the other group; `root` is as the caller passed it.
template <class PartOf>
int to_root(Function function, Communicator& comm, int root, const Part& own, PartOf part_of) noexcept {
    Transfer transfer(comm, tag_of(function));
    if (root == MPI_PROC_NULL) {
        return MPI_SUCCESS;
    }
    if (root != MPI_ROOT) {
        return transfer.send(own.address, own.count, *own.type, root);
    }
    Batch batch(transfer);
    for (int rank = 0; rank < comm.remote_size; ++rank) {
        const Part part = part_of(rank);
        batch.irecv(part.target(), part.count, *part.type, rank);
    }
    return batch.finish();
}

template <class PartOf>
int from_root(Function function, Communicator& comm, int root, const Part& own, PartOf part_of) noexcept {
    Transfer transfer(comm, tag_of(function));
    if (root == MPI_PROC_NULL) {
        return MPI_SUCCESS;
    }
    if (root != MPI_ROOT) {
        return transfer.recv(own.target(), own.count, *own.type, root);
    }
    Batch batch(transfer);
    for (int rank = 0; rank < comm.remote_size; ++rank) {
        const Part part = part_of(rank);
        batch.isend(part.address, part.count, *part.type, rank);
    }
    return batch.finish();
}

} // namespace

int InterModule::gather(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
    MPI_Count recv_count, const Datatype& recv_type, int root, Communicator& comm) noexcept {
    return to_root(
        Function::gather, comm, root, {send, send_count, &send_type}, equal_parts(recv, recv_count, recv_type));
}

int InterModule::gatherv(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
    CountArray recv_counts, CountArray displacements, const Datatype& recv_type, int root,
    Communicator& comm) noexcept {
    return to_root(Function::gatherv, comm, root, {send, send_count, &send_type},
        placed_parts(recv, recv_counts, displacements, recv_type));
}

int InterModule::scatter(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
    MPI_Count recv_count, const Datatype& recv_type, int root, Communicator& comm) noexcept {
    return from_root(
        Function::scatter, comm, root, {recv, recv_count, &recv_type}, equal_parts(send, send_count, send_type));
}

int InterModule::scatterv(const void* send, CountArray send_counts, CountArray displacements, const Datatype& send_type,
    void* recv, MPI_Count recv_count, const Datatype& recv_type, int root, Communicator& comm) noexcept {
    return from_root(Function::scatterv, comm, root, {recv, recv_count, &recv_type},
        placed_parts(send, send_counts, displacements, send_type));
}

int InterModule::allgather(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
    MPI_Count recv_count, const Datatype& recv_type, Communicator& comm) noexcept {
    return pairwise(
        Function::allgather, comm, same_part(send, send_count, send_type), equal_parts(recv, recv_count, recv_type));
}

int InterModule::allgatherv(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
    CountArray recv_counts, CountArray displacements, const Datatype& recv_type, Communicator& comm) noexcept {
    return pairwise(Function::allgatherv, comm, same_part(send, send_count, send_type),
        placed_parts(recv, recv_counts, displacements, recv_type));
}

int InterModule::alltoall(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
    MPI_Count recv_count, const Datatype& recv_type, Communicator& comm) noexcept {
    return pairwise(
        Function::alltoall, comm, equal_parts(send, send_count, send_type), equal_parts(recv, recv_count, recv_type));
}

int InterModule::alltoallv(const void* send, CountArray send_counts, CountArray send_displacements,
    const Datatype& send_type, void* recv, CountArray recv_counts, CountArray recv_displacements,
    const Datatype& recv_type, Communicator& comm) noexcept {
    return pairwise(Function::alltoallv, comm, placed_parts(send, send_counts, send_displacements, send_type),
        placed_parts(recv, recv_counts, recv_displacements, recv_type));
}

int InterModule::alltoallw(const void* send, const TypedVector& send_side, void* recv, const TypedVector& recv_side,
    Communicator& comm) noexcept {
    return pairwise(Function::alltoallw, comm, typed_parts(send, send_side), typed_parts(recv, recv_side));
}

} // namespace patchbay::coll::inter
