// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/basic/basic.h"
#include "frameworks/coll/batch.h"
#include "frameworks/coll/tags.h"
#include "frameworks/coll/typed_buffer.h"

#include <memory>
#include <new>

namespace patchbay::coll::basic {

namespace {

// What goes to or comes from one peer.
struct Part {
    void* address;
    MPI_Count count;
    const Datatype* type;
    std::size_t bytes() const noexcept { return std::size_t(count * type->size); }
};

// In-place: what is to be sent is packed aside first, because it will be overwritten.
class PackedCopy {
public:
    template <class PartOf>
    PackedCopy(int size, PartOf part_of) noexcept
        : _offsets(new (std::nothrow) std::size_t[std::size_t(size)]) {
        std::size_t total = 0;
        for (int rank = 0; rank < size && _offsets; ++rank) {
            _offsets[std::size_t(rank)] = total;
            total += part_of(rank).bytes();
        }
        if (_offsets) {
            _memory.reset(new (std::nothrow) std::byte[total + 1]);
        }
        for (int rank = 0; rank < size && valid(); ++rank) {
            const Part part = part_of(rank);
            Convertor(*part.type, part.count, part.address).pack(block(rank), part.bytes());
        }
    }
    bool valid() const noexcept { return _memory && _offsets; }
    std::byte* block(int rank) const noexcept {
        return valid() ? _memory.get() + _offsets[std::size_t(rank)] : nullptr;
    }

private:
    std::unique_ptr<std::size_t[]> _offsets;
    std::unique_ptr<std::byte[]> _memory;
};

// Pairwise exchange: each rank starts with a different partner, so that no receiver is flooded. `code`: why
// this member has failed already.
template <class SendPart, class RecvPart>
int pairwise(
    Function function, Communicator& comm, SendPart send_part, RecvPart recv_part, int code = MPI_SUCCESS) noexcept {
    Transfer transfer(comm, tag_of(function));
    transfer.fail(code);
    const int size = comm.size;
    Batch receives(transfer);
    Batch sends(transfer);
    for (int distance = 0; distance < size; ++distance) {
        const int source = (comm.rank - distance + size) % size;
        const int dest = (comm.rank + distance) % size;
        const Part incoming = recv_part(source);
        const Part outgoing = send_part(dest);
        if (distance > 0) {
            receives.irecv(incoming.address, incoming.count, *incoming.type, source);
            sends.isend(outgoing.address, outgoing.count, *outgoing.type, dest);
        } else if (!transfer.failed()) {
            transfer.fail(copy(
                outgoing.address, outgoing.count, *outgoing.type, incoming.address, incoming.count, *incoming.type));
        }
    }
    sends.finish();
    return receives.finish();
}

template <class RecvPart>
int pairwise_in_place(Function function, Communicator& comm, RecvPart recv_part) noexcept {
    const PackedCopy packed(comm.size, recv_part);
    const Datatype& byte = *to_object<Datatype>(MPI_BYTE);
    return pairwise(
        function, comm,
        [&](int rank) {
            return Part{packed.block(rank), MPI_Count(recv_part(rank).bytes()), &byte};
        },
        recv_part, packed.valid() ? MPI_SUCCESS : MPI_ERR_NO_MEM);
}

} // namespace

int BasicModule::alltoall(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
    MPI_Count recv_count, const Datatype& recv_type, Communicator& comm) noexcept {
    const auto recv_part = [&](int rank) {
        return Part{element(recv, rank * recv_count, recv_type), recv_count, &recv_type};
    };
    if (send == MPI_IN_PLACE) {
        return pairwise_in_place(Function::alltoall, comm, recv_part);
    }
    const auto send_part = [&](int rank) {
        return Part{const_cast<void*>(element(send, rank * send_count, send_type)), send_count, &send_type};
    };
    return pairwise(Function::alltoall, comm, send_part, recv_part);
}

int BasicModule::alltoallv(const void* send, CountArray send_counts, CountArray send_displacements,
    const Datatype& send_type, void* recv, CountArray recv_counts, CountArray recv_displacements,
    const Datatype& recv_type, Communicator& comm) noexcept {
    const auto recv_part = [&](int rank) {
        const auto r = std::size_t(rank);
        return Part{element(recv, recv_displacements[r], recv_type), recv_counts[r], &recv_type};
    };
    if (send == MPI_IN_PLACE) {
        return pairwise_in_place(Function::alltoallv, comm, recv_part);
    }
    const auto send_part = [&](int rank) {
        const auto r = std::size_t(rank);
        return Part{const_cast<void*>(element(send, send_displacements[r], send_type)), send_counts[r], &send_type};
    };
    return pairwise(Function::alltoallv, comm, send_part, recv_part);
}

int BasicModule::alltoallw(const void* send, const TypedVector& send_side, void* recv, const TypedVector& recv_side,
    Communicator& comm) noexcept {
    const auto part = [](const void* buffer, const TypedVector& side, int rank) {
        const auto r = std::size_t(rank);
        auto* base = static_cast<std::byte*>(const_cast<void*>(buffer));
        return Part{base + side.displacements[r], side.counts[r], to_object<Datatype>(side.types[r])};
    };
    const auto recv_part = [&](int rank) { return part(recv, recv_side, rank); };
    if (send == MPI_IN_PLACE) {
        return pairwise_in_place(Function::alltoallw, comm, recv_part);
    }
    return pairwise(
        Function::alltoallw, comm, [&](int rank) { return part(send, send_side, rank); }, recv_part);
}

} // namespace patchbay::coll::basic
