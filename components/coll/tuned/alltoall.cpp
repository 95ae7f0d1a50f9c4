// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/tuned/bytes.h"
#include "components/coll/tuned/tuned.h"

namespace patchbay::coll::tuned {

namespace {

// A buffer with one block for each rank.
struct Blocks {
    void* buffer;
    MPI_Count count;
    const Datatype& type;
    void* of(int rank) const noexcept { return element(buffer, rank * count, type); }
    MPI_Count bytes() const noexcept { return count * type.size; }
};

// Not in place: no block of `send` is one of `recv`.
struct Exchange {
    Blocks send;
    Blocks recv;
    int rank;
    int ranks;
};

template <class Steps>
void copy_own(Steps& steps, const Exchange& e) noexcept {
    steps.copy(e.send.of(e.rank), e.send.count, e.send.type, e.recv.of(e.rank), e.recv.count, e.recv.type);
}

// All messages at the same time; each rank begins with another partner.
template <class Steps>
void direct(Steps& steps, const Exchange& e) noexcept {
    typename Steps::Batch receives(steps);
    typename Steps::Batch sends(steps);
    for (int distance = 1; distance < e.ranks; ++distance) {
        const int source = (e.rank - distance + e.ranks) % e.ranks;
        const int dest = (e.rank + distance) % e.ranks;
        receives.irecv(e.recv.of(source), e.recv.count, e.recv.type, source);
        sends.isend(e.send.of(dest), e.send.count, e.send.type, dest);
    }
    copy_own(steps, e);
    sends.finish();
    receives.finish();
}

// One partner after the other.
template <class Steps>
void pairwise(Steps& steps, const Exchange& e) noexcept {
    for (int distance = 1; distance < e.ranks; ++distance) {
        const int source = (e.rank - distance + e.ranks) % e.ranks;
        const int dest = (e.rank + distance) % e.ranks;
        steps.exchange(e.send.of(dest), e.send.count, e.send.type, dest, e.recv.of(source), e.recv.count, e.recv.type,
            source);
        steps.round();
    }
    copy_own(steps, e);
}

// Rank 0 receives everything and sends each rank its part.
template <class Steps>
void linear(Steps& steps, const Exchange& e) noexcept {
    if (e.rank != 0) {
        steps.send(e.send.buffer, e.send.count * e.ranks, e.send.type, 0);
        steps.round();
        steps.recv(e.recv.buffer, e.recv.count * e.ranks, e.recv.type, 0);
        return;
    }
    const MPI_Count block = e.recv.bytes();
    const MPI_Count row = block * e.ranks;
    auto* by_source = static_cast<std::byte*>(steps.scratch(row * e.ranks, byte_type()));
    auto* by_dest = static_cast<std::byte*>(steps.scratch(row * e.ranks, byte_type()));
    typename Steps::Batch receives(steps);
    for (int rank = 1; rank < e.ranks; ++rank) {
        receives.irecv(by_source + rank * row, row, byte_type(), rank);
    }
    steps.copy(e.send.buffer, e.send.count * e.ranks, e.send.type, by_source, row, byte_type());
    receives.finish();
    for (int dest = 0; dest < e.ranks; ++dest) {
        for (int source = 0; source < e.ranks; ++source) {
            steps.copy(by_source + source * row + dest * block, block, byte_type(),
                by_dest + dest * row + source * block, block, byte_type());
        }
    }
    steps.round();
    typename Steps::Batch sends(steps);
    for (int rank = 1; rank < e.ranks; ++rank) {
        sends.isend(by_dest + rank * row, row, byte_type(), rank);
    }
    steps.copy(by_dest, row, byte_type(), e.recv.buffer, e.recv.count * e.ranks, e.recv.type);
    sends.finish();
}

// Bruck's algorithm. Block i of `staged` is for rank + i at first. In the round of a bit, those blocks whose index has
// this bit travel that many ranks on; in the end block i has come from rank - i.
template <class Steps>
void bruck(Steps& steps, const Exchange& e) noexcept {
    const MPI_Count block = e.recv.bytes();
    const MPI_Count half = block * ((e.ranks + 1) / 2);
    auto* staged = static_cast<std::byte*>(steps.scratch(block * e.ranks, byte_type()));
    auto* outgoing = static_cast<std::byte*>(steps.scratch(half, byte_type()));
    auto* incoming = static_cast<std::byte*>(steps.scratch(half, byte_type()));
    for (int i = 0; i < e.ranks; ++i) {
        steps.copy(e.send.of((e.rank + i) % e.ranks), e.send.count, e.send.type, staged + i * block, block,
            byte_type());
    }
    steps.round();
    for (int bit = 1; bit < e.ranks; bit *= 2) {
        // Runs of `bit` blocks.
        const auto for_runs = [&](auto visit) {
            MPI_Count done = 0;
            for (int i = bit; i < e.ranks; i += 2 * bit) {
                const MPI_Count bytes = block * (i + bit <= e.ranks ? bit : e.ranks - i);
                visit(staged + i * block, done, bytes);
                done += bytes;
            }
            return done;
        };
        const MPI_Count bytes = for_runs([&](std::byte* run, MPI_Count at, MPI_Count size) {
            steps.copy(run, size, byte_type(), outgoing + at, size, byte_type());
        });
        steps.round();
        steps.exchange(outgoing, bytes, byte_type(), (e.rank + bit) % e.ranks, incoming, bytes, byte_type(),
            (e.rank - bit + e.ranks) % e.ranks);
        steps.round();
        for_runs([&](std::byte* run, MPI_Count at, MPI_Count size) {
            steps.copy(incoming + at, size, byte_type(), run, size, byte_type());
        });
        steps.round();
    }
    for (int i = 0; i < e.ranks; ++i) {
        const int source = (e.rank - i + e.ranks) % e.ranks;
        steps.copy(staged + i * block, block, byte_type(), e.recv.of(source), e.recv.count, e.recv.type);
    }
}

} // namespace

template <class Steps>
void alltoall(Steps& steps, const Call& call, const Choice& choice) noexcept {
    const Communicator& comm = steps.comm();
    const Exchange e{{const_cast<void*>(call.send), call.send_count, *call.send_type},
        {call.recv, call.recv_count, *call.recv_type}, comm.rank, comm.size};
    switch (choice.algorithm) {
    case Algorithm::linear:
        return linear(steps, e);
    case Algorithm::direct:
        return direct(steps, e);
    case Algorithm::bruck:
        return bruck(steps, e);
    default:
        return pairwise(steps, e);
    }
}

template void alltoall(Immediate&, const Call&, const Choice&) noexcept;
template void alltoall(Schedule&, const Call&, const Choice&) noexcept;

} // namespace patchbay::coll::tuned
