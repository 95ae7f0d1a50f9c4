// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/basic/basic.h"
#include "frameworks/coll/tags.h"
#include "frameworks/coll/transfer.h"
#include "frameworks/coll/typed_buffer.h"

#include <cstring>

namespace patchbay::coll::basic {

namespace {

// Every block travels once round the ring: bandwidth-optimal, size - 1 steps. Own block is in place already.
template <class AddressOf, class CountOf>
int ring(Transfer& transfer, const Datatype& type, const Communicator& comm, AddressOf address_of,
    CountOf count_of) noexcept {
    const int size = comm.size;
    const int right = (comm.rank + 1) % size;
    const int left = (comm.rank - 1 + size) % size;
    for (int step = 0; step < size - 1; ++step) {
        const int outgoing = (comm.rank - step + size) % size;
        const int incoming = (outgoing - 1 + size) % size;
        transfer.exchange(address_of(outgoing), count_of(outgoing), type, right, address_of(incoming),
            count_of(incoming), type, left);
    }
    return transfer.code();
}

// Bruck's algorithm on packed bytes: ceil(log2 size) steps for any size; block i of `staged` is that of rank + i.
int bruck(Transfer& transfer, void* recv, MPI_Count count, const Datatype& type, const Communicator& comm) noexcept {
    const Datatype& byte = *to_object<Datatype>(MPI_BYTE);
    const int size = comm.size;
    const MPI_Count block = count * type.size;
    TypedBuffer staging(block * size, byte);
    auto* staged = static_cast<std::byte*>(staging.data());
    if (staging.valid()) {
        copy(element(recv, comm.rank * count, type), count, type, staged, block, byte);
    } else {
        transfer.fail(MPI_ERR_NO_MEM);
    }
    for (int have = 1; have < size; have *= 2) {
        const MPI_Count blocks = std::min(have, size - have);
        transfer.exchange(staged, blocks * block, byte, (comm.rank - have + size) % size,
            staging.valid() ? staged + have * block : nullptr, blocks * block, byte, (comm.rank + have) % size);
    }
    for (int i = 1; i < size && !transfer.failed(); ++i) {
        copy(staged + i * block, block, byte, element(recv, ((comm.rank + i) % size) * count, type), count, type);
    }
    return transfer.code();
}

} // namespace

int BasicModule::allgather(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
    MPI_Count recv_count, const Datatype& recv_type, Communicator& comm) noexcept {
    Transfer transfer(comm, tag_of(Function::allgather));
    if (send != MPI_IN_PLACE) {
        transfer.fail(
            copy(send, send_count, send_type, element(recv, comm.rank * recv_count, recv_type), recv_count, recv_type));
    }
    if (std::size_t(recv_count * recv_type.size) * std::size_t(comm.size) < _settings.ring_from) {
        return bruck(transfer, recv, recv_count, recv_type, comm);
    }
    return ring(
        transfer, recv_type, comm, [&](int rank) { return element(recv, rank * recv_count, recv_type); },
        [&](int) { return recv_count; });
}

int BasicModule::allgatherv(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
    CountArray recv_counts, CountArray displacements, const Datatype& recv_type, Communicator& comm) noexcept {
    const auto address_of = [&](int rank) { return element(recv, displacements[std::size_t(rank)], recv_type); };
    const auto count_of = [&](int rank) { return recv_counts[std::size_t(rank)]; };
    Transfer transfer(comm, tag_of(Function::allgatherv));
    if (send != MPI_IN_PLACE) {
        transfer.fail(copy(send, send_count, send_type, address_of(comm.rank), count_of(comm.rank), recv_type));
    }
    return ring(transfer, recv_type, comm, address_of, count_of);
}

} // namespace patchbay::coll::basic
