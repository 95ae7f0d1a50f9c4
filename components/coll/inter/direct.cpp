// SPDX-License-Identifier: BSD-3-Clause
// What goes from each process to each other one without a stop.
#include "components/coll/inter/inter.h"
#include "frameworks/coll/immediate.h"
#include "frameworks/coll/schedule.h"

#include <algorithm>

namespace patchbay::coll::inter {

namespace {

// What goes to or comes from one process of the other group.
struct Part {
    const void* address;
    MPI_Count count;
    const Datatype* type;

    void* target() const noexcept { return const_cast<void*>(address); }
};

// Each rank exchanges with each rank of the other group, one at a time, and at the same step in both groups: a rank
// that waits in some step waits for one that has finished all earlier steps.
template <class Steps, class SendPart, class RecvPart>
void pairwise(Steps& steps, SendPart send_part, RecvPart recv_part) noexcept {
    const Communicator& comm = steps.comm();
    typename Steps::Batch receives(steps);
    typename Steps::Batch sends(steps);
    const int rounds = std::max(comm.size, comm.remote_size);
    for (int round = 0; round < rounds; ++round) {
        const int peer = (round - comm.rank + rounds) % rounds;
        if (peer >= comm.remote_size) {
            continue;
        }
        const Part incoming = recv_part(peer);
        const Part outgoing = send_part(peer);
        receives.irecv(incoming.target(), incoming.count, *incoming.type, peer);
        sends.isend(outgoing.address, outgoing.count, *outgoing.type, peer);
    }
    sends.finish();
    receives.finish();
}

// The root has one part for each process of the other group; `root` is as the caller passed it.
template <class Steps, class PartOf>
void to_root(Steps& steps, int root, const void* send, MPI_Count count, const Datatype* type, PartOf part_of) noexcept {
    if (root == MPI_PROC_NULL) {
        return;
    }
    if (root != MPI_ROOT) {
        steps.send(send, count, *type, root);
        return;
    }
    typename Steps::Batch batch(steps);
    for (int rank = 0; rank < steps.comm().remote_size; ++rank) {
        const Part part = part_of(rank);
        batch.irecv(part.target(), part.count, *part.type, rank);
    }
    batch.finish();
}

template <class Steps, class PartOf>
void from_root(Steps& steps, int root, void* recv, MPI_Count count, const Datatype* type, PartOf part_of) noexcept {
    if (root == MPI_PROC_NULL) {
        return;
    }
    if (root != MPI_ROOT) {
        steps.recv(recv, count, *type, root);
        return;
    }
    typename Steps::Batch batch(steps);
    for (int rank = 0; rank < steps.comm().remote_size; ++rank) {
        const Part part = part_of(rank);
        batch.isend(part.address, part.count, *part.type, rank);
    }
    batch.finish();
}

// Where the parts of the processes of the other group are, from a call.
auto sent_parts(const Call& call) noexcept {
    return [call](int rank) {
        const auto r = std::size_t(rank);
        switch (call.function) {
        case Function::allgather:
        case Function::allgatherv:
            return Part{call.send, call.send_count, call.send_type};
        case Function::scatter:
        case Function::alltoall:
            return Part{element(call.send, rank * call.send_count, *call.send_type), call.send_count, call.send_type};
        case Function::alltoallw:
            return Part{static_cast<const std::byte*>(call.send) + call.send_displacements[r], call.send_counts[r],
                to_object<Datatype>(call.send_types[r])};
        default:
            return Part{
                element(call.send, call.send_displacements[r], *call.send_type), call.send_counts[r], call.send_type};
        }
    };
}
auto received_parts(const Call& call) noexcept {
    return [call](int rank) {
        const auto r = std::size_t(rank);
        switch (call.function) {
        case Function::gather:
        case Function::allgather:
        case Function::alltoall:
            return Part{element(call.recv, rank * call.recv_count, *call.recv_type), call.recv_count, call.recv_type};
        case Function::alltoallw:
            return Part{static_cast<const std::byte*>(call.recv) + call.recv_displacements[r], call.recv_counts[r],
                to_object<Datatype>(call.recv_types[r])};
        default:
            return Part{
                element(call.recv, call.recv_displacements[r], *call.recv_type), call.recv_counts[r], call.recv_type};
        }
    };
}

} // namespace

template <class Steps>
void direct(Steps& steps, const Call& call) noexcept {
    switch (call.function) {
    case Function::gather:
    case Function::gatherv:
        to_root(steps, call.root, call.send, call.send_count, call.send_type, received_parts(call));
        break;
    case Function::scatter:
    case Function::scatterv:
        from_root(steps, call.root, call.recv, call.recv_count, call.recv_type, sent_parts(call));
        break;
    default:
        pairwise(steps, sent_parts(call), received_parts(call));
        break;
    }
}

template void direct(Immediate&, const Call&) noexcept;
template void direct(Schedule&, const Call&) noexcept;

} // namespace patchbay::coll::inter
