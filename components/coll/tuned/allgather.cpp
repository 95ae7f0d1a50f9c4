// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/tuned/bytes.h"
#include "components/coll/tuned/tuned.h"

#include <algorithm>

namespace patchbay::coll::tuned {

namespace {

// The buffer with the blocks of all ranks.
struct Contributions {
    void* buffer;
    MPI_Count count; // of one block
    const Datatype& type;
    int rank;
    int ranks;
    // The own block, where the program has it: what others read from there need not come from this core's cache, as
    // what has just been copied would.
    const void* own;
    MPI_Count own_count;
    const Datatype& own_type;
    void* of(int owner) const noexcept { return element(buffer, owner * count, type); }
};

// The own block to its place in the buffer: while it is sent, so that the others need not wait for the copy.
template <class Steps>
void copy_own(Steps& steps, const Contributions& blocks) noexcept {
    if (blocks.own != blocks.of(blocks.rank)) {
        steps.copy(blocks.own, blocks.own_count, blocks.own_type, blocks.of(blocks.rank), blocks.count, blocks.type);
    }
}

// Each rank to rank 0, which sends all blocks to each.
template <class Steps>
void linear(Steps& steps, const Contributions& blocks) noexcept {
    const MPI_Count all = blocks.count * blocks.ranks;
    if (blocks.rank != 0) {
        steps.send(blocks.own, blocks.own_count, blocks.own_type, 0);
        steps.round();
        steps.recv(blocks.buffer, all, blocks.type, 0);
        return;
    }
    typename Steps::Batch receives(steps);
    for (int rank = 1; rank < blocks.ranks; ++rank) {
        receives.irecv(blocks.of(rank), blocks.count, blocks.type, rank);
    }
    copy_own(steps, blocks);
    receives.finish();
    typename Steps::Batch sends(steps);
    for (int rank = 1; rank < blocks.ranks; ++rank) {
        sends.isend(blocks.buffer, all, blocks.type, rank);
    }
    sends.finish();
}

// Each rank to each rank.
template <class Steps>
void direct(Steps& steps, const Contributions& blocks) noexcept {
    typename Steps::Batch receives(steps);
    typename Steps::Batch sends(steps);
    for (int distance = 1; distance < blocks.ranks; ++distance) {
        const int source = (blocks.rank - distance + blocks.ranks) % blocks.ranks;
        sends.isend(blocks.own, blocks.own_count, blocks.own_type, (blocks.rank + distance) % blocks.ranks);
        receives.irecv(blocks.of(source), blocks.count, blocks.type, source);
    }
    copy_own(steps, blocks);
    sends.finish();
    receives.finish();
}

// A first round, in which each rank sends its own block.
template <class Steps>
void exchange_own(Steps& steps, const Contributions& blocks, int dest, int source) noexcept {
    steps.exchange(
        blocks.own, blocks.own_count, blocks.own_type, dest, blocks.of(source), blocks.count, blocks.type, source);
    copy_own(steps, blocks);
    steps.round();
}

// Recursive doubling, for powers of two: blocks travel where they are, in runs.
template <class Steps>
void doubling(Steps& steps, const Contributions& blocks) noexcept {
    exchange_own(steps, blocks, blocks.rank ^ 1, blocks.rank ^ 1);
    for (int have = 2; have < blocks.ranks; have *= 2) {
        const int peer = blocks.rank ^ have;
        const int mine = blocks.rank / have * have;
        const int theirs = peer / have * have;
        steps.exchange(blocks.of(mine), have * blocks.count, blocks.type, peer, blocks.of(theirs), have * blocks.count,
            blocks.type, peer);
        steps.round();
    }
}

template <class Steps>
void ring(Steps& steps, const Contributions& blocks) noexcept {
    const int right = (blocks.rank + 1) % blocks.ranks;
    const int left = (blocks.rank - 1 + blocks.ranks) % blocks.ranks;
    exchange_own(steps, blocks, right, left);
    for (int step = 1; step < blocks.ranks - 1; ++step) {
        const int out = (blocks.rank - step + blocks.ranks) % blocks.ranks;
        const int in = (out - 1 + blocks.ranks) % blocks.ranks;
        steps.exchange(
            blocks.of(out), blocks.count, blocks.type, right, blocks.of(in), blocks.count, blocks.type, left);
        steps.round();
    }
}

// Neighbour exchange, for even numbers of ranks: pairs exchange their blocks; from then on each rank gives what it got
// last, two blocks, to the neighbour on its other side.
template <class Steps>
void neighbour(Steps& steps, const Contributions& blocks) noexcept {
    const int ranks = blocks.ranks;
    const bool even = blocks.rank % 2 == 0;
    const int right = (blocks.rank + 1) % ranks;
    const int left = (blocks.rank - 1 + ranks) % ranks;
    const int partner = even ? right : left;
    exchange_own(steps, blocks, partner, partner);
    const int own_pair = blocks.rank / 2 * 2;
    int have = own_pair; // the first of the two blocks that are given next
    for (int step = 1; step < ranks / 2; ++step) {
        const bool with_partner = step % 2 == 0;
        const int peer = with_partner == even ? right : left;
        // In every second round the blocks come from one pair further on.
        const int pairs = (step + 1) / 2 * 2;
        const bool from_right = (step % 2 == 1) != even;
        const int distance = from_right ? pairs : ranks - pairs;
        const int get = (own_pair + distance) % ranks;
        steps.exchange(
            blocks.of(have), 2 * blocks.count, blocks.type, peer, blocks.of(get), 2 * blocks.count, blocks.type, peer);
        steps.round();
        have = get;
    }
}

// Bruck's algorithm on packed bytes: block i of `staged` is that of rank + i.
template <class Steps>
void bruck(Steps& steps, const Contributions& blocks) noexcept {
    const int rank = blocks.rank;
    const int ranks = blocks.ranks;
    const MPI_Count bytes = blocks.count * blocks.type.size;
    auto* staged = static_cast<std::byte*>(steps.scratch(bytes * ranks, byte_type()));
    steps.copy(blocks.own, blocks.own_count, blocks.own_type, staged, bytes, byte_type());
    steps.round();
    for (int have = 1; have < ranks; have *= 2) {
        const MPI_Count more = std::min(have, ranks - have) * bytes;
        steps.exchange(staged, more, byte_type(), (rank - have + ranks) % ranks, staged + have * bytes, more,
            byte_type(), (rank + have) % ranks);
        steps.round();
    }
    copy_own(steps, blocks);
    for (int i = 1; i < ranks; ++i) {
        steps.copy(staged + i * bytes, bytes, byte_type(), blocks.of((rank + i) % ranks), blocks.count, blocks.type);
    }
}

} // namespace

template <class Steps>
void allgather(Steps& steps, const Call& call, const Choice& choice) noexcept {
    const Communicator& comm = steps.comm();
    const bool in_place = call.send == MPI_IN_PLACE;
    void* own_block = element(call.recv, comm.rank * call.recv_count, *call.recv_type);
    const Contributions blocks{call.recv, call.recv_count, *call.recv_type, comm.rank, comm.size,
        in_place ? own_block : call.send, in_place ? call.recv_count : call.send_count,
        in_place ? *call.recv_type : *call.send_type};
    switch (choice.algorithm) {
    case Algorithm::linear:
        return linear(steps, blocks);
    case Algorithm::direct:
        return direct(steps, blocks);
    case Algorithm::doubling:
        return doubling(steps, blocks);
    case Algorithm::neighbour:
        return neighbour(steps, blocks);
    case Algorithm::bruck:
        return bruck(steps, blocks);
    default:
        return ring(steps, blocks);
    }
}

template void allgather(Immediate&, const Call&, const Choice&) noexcept;
template void allgather(Schedule&, const Call&, const Choice&) noexcept;

} // namespace patchbay::coll::tuned
