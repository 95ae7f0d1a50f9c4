// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/tuned/bytes.h"
#include "components/coll/tuned/tuned.h"

#include <algorithm>

namespace patchbay::coll::tuned {

namespace {

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
        sends.isend(e.send.of(dest), e.send.count, e.send.type, dest);
        receives.irecv(e.recv.of(source), e.recv.count, e.recv.type, source);
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
        steps.exchange(
            e.send.of(dest), e.send.count, e.send.type, dest, e.recv.of(source), e.recv.count, e.recv.type, source);
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

// The blocks whose digit of weight `weight` is `digit`, as runs of blocks that stand beside one another: has
// `visit(first block, number of blocks)` called for each.
template <class Visit>
void for_runs(int ranks, int weight, int digit, int radix, Visit visit) noexcept {
    for (MPI_Count first = MPI_Count(digit) * weight; first < ranks; first += MPI_Count(radix) * weight) {
        visit(first, std::min(MPI_Count(weight), ranks - first));
    }
}

// Bruck's algorithm. Block i of `staged` is for rank + i at first. In the round of a digit of i those blocks travel on
// by the value of that digit; in the end block i has come from rank - i.
template <class Steps>
void bruck(Steps& steps, const Exchange& e, int radix) noexcept {
    const MPI_Count block = e.recv.bytes();
    const auto room = [&] { return static_cast<std::byte*>(steps.scratch(block * e.ranks, byte_type())); };
    std::byte* staged = room();
    std::byte* outgoing = room();
    std::byte* incoming = room();
    for (int i = 0; i < e.ranks; ++i) {
        steps.copy(
            e.send.of((e.rank + i) % e.ranks), e.send.count, e.send.type, staged + i * block, block, byte_type());
    }
    steps.round();
    for (int weight = 1; weight < e.ranks; weight *= radix) {
        const auto for_moving_runs = [&](int digit, MPI_Count& done, auto visit) {
            for_runs(e.ranks, weight, digit, radix, [&](MPI_Count first, MPI_Count blocks) {
                visit(staged + first * block, done, blocks * block);
                done += blocks * block;
            });
        };
        const auto distance_of = [&](int digit) { return digit * weight; };
        MPI_Count packed = 0;
        for (int digit = 1; digit < radix && distance_of(digit) < e.ranks; ++digit) {
            for_moving_runs(digit, packed, [&](std::byte* run, MPI_Count at, MPI_Count bytes) {
                steps.copy(run, bytes, byte_type(), outgoing + at, bytes, byte_type());
            });
        }
        steps.round();
        typename Steps::Batch receives(steps);
        typename Steps::Batch sends(steps);
        MPI_Count at = 0;
        for (int digit = 1; digit < radix && distance_of(digit) < e.ranks; ++digit) {
            const MPI_Count first = at;
            for_runs(e.ranks, weight, digit, radix, [&](MPI_Count, MPI_Count blocks) { at += blocks * block; });
            sends.isend(outgoing + first, at - first, byte_type(), (e.rank + distance_of(digit)) % e.ranks);
            receives.irecv(
                incoming + first, at - first, byte_type(), (e.rank - distance_of(digit) + e.ranks) % e.ranks);
        }
        sends.finish();
        receives.finish();
        MPI_Count unpacked = 0;
        for (int digit = 1; digit < radix && distance_of(digit) < e.ranks; ++digit) {
            for_moving_runs(digit, unpacked, [&](std::byte* run, MPI_Count from, MPI_Count bytes) {
                steps.copy(incoming + from, bytes, byte_type(), run, bytes, byte_type());
            });
        }
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
        return bruck(steps, e, choice.radix);
    default:
        return pairwise(steps, e);
    }
}

template void alltoall(Immediate&, const Call&, const Choice&) noexcept;
template void alltoall(Schedule&, const Call&, const Choice&) noexcept;

} // namespace patchbay::coll::tuned
