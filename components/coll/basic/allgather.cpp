// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/basic/basic.h"
#include "frameworks/coll/immediate.h"
#include "frameworks/coll/schedule.h"

#include <algorithm>

namespace patchbay::coll::basic {

namespace {

// Every block travels once round the ring: bandwidth-optimal, size - 1 steps. Own block is in place already.
template <class Steps, class AddressOf, class CountOf>
void ring(Steps& steps, const Datatype& type, AddressOf address_of, CountOf count_of) noexcept {
    const int rank = steps.comm().rank;
    const int size = steps.comm().size;
    const int right = (rank + 1) % size;
    const int left = (rank - 1 + size) % size;
    for (int step = 0; step < size - 1; ++step) {
        const int outgoing = (rank - step + size) % size;
        const int incoming = (outgoing - 1 + size) % size;
        steps.exchange(address_of(outgoing), count_of(outgoing), type, right, address_of(incoming), count_of(incoming),
            type, left);
        steps.round();
    }
}

// Bruck's algorithm on packed bytes: ceil(log2 size) steps for any size; block i of `staged` is that of rank + i.
template <class Steps>
void bruck(Steps& steps, void* recv, MPI_Count count, const Datatype& type) noexcept {
    const Datatype& byte = *to_object<Datatype>(MPI_BYTE);
    const int rank = steps.comm().rank;
    const int size = steps.comm().size;
    const MPI_Count block = count * type.size;
    auto* staged = static_cast<std::byte*>(steps.scratch(block * size, byte));
    steps.copy(element(recv, rank * count, type), count, type, staged, block, byte);
    steps.round();
    for (int have = 1; have < size; have *= 2) {
        const MPI_Count blocks = std::min(have, size - have);
        steps.exchange(staged, blocks * block, byte, (rank - have + size) % size, staged + have * block, blocks * block,
            byte, (rank + have) % size);
        steps.round();
    }
    for (int i = 1; i < size; ++i) {
        steps.copy(staged + i * block, block, byte, element(recv, ((rank + i) % size) * count, type), count, type);
    }
}

template <class Steps>
void allgather_equal(Steps& steps, std::size_t ring_from, const void* send, MPI_Count send_count,
    const Datatype& send_type, void* recv, MPI_Count recv_count, const Datatype& recv_type) noexcept {
    const Communicator& comm = steps.comm();
    if (send != MPI_IN_PLACE) {
        steps.copy(
            send, send_count, send_type, element(recv, comm.rank * recv_count, recv_type), recv_count, recv_type);
        steps.round();
    }
    if (std::size_t(recv_count * recv_type.size) * std::size_t(comm.size) < ring_from) {
        bruck(steps, recv, recv_count, recv_type);
    } else {
        ring(
            steps, recv_type, [&](int rank) { return element(recv, rank * recv_count, recv_type); },
            [&](int) { return recv_count; });
    }
}

template <class Steps>
void allgather_placed(Steps& steps, const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
    CountArray recv_counts, CountArray displacements, const Datatype& recv_type) noexcept {
    const int own = steps.comm().rank;
    const auto address_of = [&](int rank) { return element(recv, displacements[std::size_t(rank)], recv_type); };
    const auto count_of = [&](int rank) { return recv_counts[std::size_t(rank)]; };
    if (send != MPI_IN_PLACE) {
        steps.copy(send, send_count, send_type, address_of(own), count_of(own), recv_type);
        steps.round();
    }
    ring(steps, recv_type, address_of, count_of);
}

} // namespace

int BasicModule::allgather(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
    MPI_Count recv_count, const Datatype& recv_type, Communicator& comm) noexcept {
    Immediate steps(comm, Function::allgather);
    allgather_equal(steps, _settings.ring_from, send, send_count, send_type, recv, recv_count, recv_type);
    return steps.code();
}

int BasicModule::allgatherv(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
    CountArray recv_counts, CountArray displacements, const Datatype& recv_type, Communicator& comm) noexcept {
    Immediate steps(comm, Function::allgatherv);
    allgather_placed(steps, send, send_count, send_type, recv, recv_counts, displacements, recv_type);
    return steps.code();
}

void BasicModule::plan_allgather(const Call& call, Schedule& schedule) const noexcept {
    if (call.function == Function::allgather) {
        allgather_equal(schedule, _settings.ring_from, call.send, call.send_count, *call.send_type, call.recv,
            call.recv_count, *call.recv_type);
    } else {
        allgather_placed(schedule, call.send, call.send_count, *call.send_type, call.recv, call.recv_counts,
            call.recv_displacements, *call.recv_type);
    }
}

} // namespace patchbay::coll::basic
