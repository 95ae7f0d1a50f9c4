// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/basic/basic.h"
#include "frameworks/coll/immediate.h"
#include "frameworks/coll/schedule.h"

#include <utility>

namespace patchbay::coll::basic {

namespace {

// What goes to or comes from one peer.
struct Part {
    void* address;
    MPI_Count count;
    const Datatype* type;
    MPI_Count bytes() const noexcept { return count * type->size; }
};

auto equal_parts(const void* buffer, MPI_Count count, const Datatype& type) noexcept {
    return [=, &type](int rank) { return Part{const_cast<void*>(element(buffer, rank * count, type)), count, &type}; };
}
auto placed_parts(const void* buffer, CountArray counts, CountArray displacements, const Datatype& type) noexcept {
    return [=, &type](int rank) {
        const auto r = std::size_t(rank);
        return Part{const_cast<void*>(element(buffer, displacements[r], type)), counts[r], &type};
    };
}
auto typed_parts(const void* buffer, const TypedVector& side) noexcept {
    return [=](int rank) {
        const auto r = std::size_t(rank);
        auto* base = static_cast<std::byte*>(const_cast<void*>(buffer));
        return Part{base + side.displacements[r], side.counts[r], to_object<Datatype>(side.types[r])};
    };
}

// Pairwise exchange: each rank starts with a different partner, so that no receiver is flooded. The parts are asked for
// in this order.
template <class Steps, class SendPart, class RecvPart>
void exchange_with_others(Steps& steps, SendPart send_part, RecvPart recv_part) noexcept {
    const int own = steps.comm().rank;
    const int size = steps.comm().size;
    typename Steps::Batch receives(steps);
    typename Steps::Batch sends(steps);
    for (int distance = 1; distance < size; ++distance) {
        const int source = (own - distance + size) % size;
        const int dest = (own + distance) % size;
        const Part incoming = recv_part(source);
        const Part outgoing = send_part(dest);
        receives.irecv(incoming.address, incoming.count, *incoming.type, source);
        sends.isend(outgoing.address, outgoing.count, *outgoing.type, dest);
    }
    sends.finish();
    receives.finish();
}

template <class Steps, class SendPart, class RecvPart>
void pairwise(Steps& steps, SendPart send_part, RecvPart recv_part) noexcept {
    const Part from = send_part(steps.comm().rank);
    const Part into = recv_part(steps.comm().rank);
    steps.copy(from.address, from.count, *from.type, into.address, into.count, *into.type);
    exchange_with_others(steps, send_part, recv_part);
}

// In-place: what is to be sent is packed aside first, in the order of the sends, because it will be overwritten.
template <class Steps, class RecvPart>
void pairwise_in_place(Steps& steps, RecvPart recv_part) noexcept {
    const Datatype& byte = *to_object<Datatype>(MPI_BYTE);
    const int own = steps.comm().rank;
    const int size = steps.comm().size;
    MPI_Count total = 0;
    for (int rank = 0; rank < size; ++rank) {
        total += rank == own ? 0 : recv_part(rank).bytes();
    }
    auto* packed = static_cast<std::byte*>(steps.scratch(total, byte));
    std::byte* end = packed;
    for (int distance = 1; distance < size; ++distance) {
        const Part part = recv_part((own + distance) % size);
        steps.copy(part.address, part.count, *part.type, end, part.bytes(), byte);
        end += part.bytes();
    }
    steps.round();
    std::byte* next = packed;
    const auto packed_part = [&](int rank) {
        const MPI_Count bytes = recv_part(rank).bytes();
        return Part{std::exchange(next, next + bytes), bytes, &byte};
    };
    exchange_with_others(steps, packed_part, recv_part);
}

template <class Steps, class RecvPart, class SendParts>
void all_to_all(Steps& steps, const void* send, SendParts send_parts, RecvPart recv_part) noexcept {
    if (send == MPI_IN_PLACE) {
        pairwise_in_place(steps, recv_part);
    } else {
        pairwise(steps, send_parts, recv_part);
    }
}

} // namespace

int BasicModule::alltoall(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
    MPI_Count recv_count, const Datatype& recv_type, Communicator& comm) noexcept {
    Immediate steps(comm, Function::alltoall);
    all_to_all(steps, send, equal_parts(send, send_count, send_type), equal_parts(recv, recv_count, recv_type));
    return steps.code();
}

int BasicModule::alltoallv(const void* send, CountArray send_counts, CountArray send_displacements,
    const Datatype& send_type, void* recv, CountArray recv_counts, CountArray recv_displacements,
    const Datatype& recv_type, Communicator& comm) noexcept {
    Immediate steps(comm, Function::alltoallv);
    all_to_all(steps, send, placed_parts(send, send_counts, send_displacements, send_type),
        placed_parts(recv, recv_counts, recv_displacements, recv_type));
    return steps.code();
}

int BasicModule::alltoallw(const void* send, const TypedVector& send_side, void* recv, const TypedVector& recv_side,
    Communicator& comm) noexcept {
    Immediate steps(comm, Function::alltoallw);
    all_to_all(steps, send, typed_parts(send, send_side), typed_parts(recv, recv_side));
    return steps.code();
}

void BasicModule::plan_alltoall(const Call& call, Schedule& schedule) const noexcept {
    if (call.function == Function::alltoall) {
        all_to_all(schedule, call.send, equal_parts(call.send, call.send_count, *call.send_type),
            equal_parts(call.recv, call.recv_count, *call.recv_type));
    } else if (call.function == Function::alltoallv) {
        all_to_all(schedule, call.send,
            placed_parts(call.send, call.send_counts, call.send_displacements, *call.send_type),
            placed_parts(call.recv, call.recv_counts, call.recv_displacements, *call.recv_type));
    } else {
        all_to_all(
            schedule, call.send, typed_parts(call.send, call.send_side()), typed_parts(call.recv, call.recv_side()));
    }
}

} // namespace patchbay::coll::basic
