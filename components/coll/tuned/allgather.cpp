// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/tuned/bytes.h"
#include "components/coll/tuned/tuned.h"

#include <algorithm>

namespace patchbay::coll::tuned {

namespace {

// The buffer with the blocks of all ranks.
struct Blocks {
    void* buffer;
    MPI_Count count; // of one block
    const Datatype& type;
    int rank;
    int ranks;
    void* of(int owner) const noexcept { return element(buffer, owner * count, type); }
};

// Each rank to rank 0, which sends all blocks to each.
template <class Steps>
void linear(Steps& steps, const Blocks& blocks) noexcept {
    const MPI_Count all = blocks.count * blocks.ranks;
    if (blocks.rank != 0) {
        steps.send(blocks.of(blocks.rank), blocks.count, blocks.type, 0);
        steps.round();
        steps.recv(blocks.buffer, all, blocks.type, 0);
        return;
    }
    typename Steps::Batch receives(steps);
    for (int rank = 1; rank < blocks.ranks; ++rank) {
        receives.irecv(blocks.of(rank), blocks.count, blocks.type, rank);
    }
    receives.finish();
    typename Steps::Batch sends(steps);
    for (int rank = 1; rank < blocks.ranks; ++rank) {
        sends.isend(blocks.buffer, all, blocks.type, rank);
    }
    sends.finish();
}

// Each rank to each rank.
template <class Steps>
void direct(Steps& steps, const Blocks& blocks) noexcept {
    typename Steps::Batch receives(steps);
    typename Steps::Batch sends(steps);
    for (int distance = 1; distance < blocks.ranks; ++distance) {
        const int source = (blocks.rank - distance + blocks.ranks) % blocks.ranks;
        receives.irecv(blocks.of(source), blocks.count, blocks.type, source);
        sends.isend(blocks.of(blocks.rank), blocks.count, blocks.type, (blocks.rank + distance) % blocks.ranks);
    }
    sends.finish();
    receives.finish();
}

// Recursive doubling, for powers of two: blocks travel where they are, in runs.
template <class Steps>
void doubling(Steps& steps, const Blocks& blocks) noexcept {
    for (int have = 1; have < blocks.ranks; have *= 2) {
        const int peer = blocks.rank ^ have;
        const int mine = blocks.rank / have * have;
        const int theirs = peer / have * have;
        steps.exchange(blocks.of(mine), have * blocks.count, blocks.type, peer, blocks.of(theirs), have * blocks.count,
            blocks.type, peer);
        steps.round();
    }
}

template <class Steps>
void ring(Steps& steps, const Blocks& blocks) noexcept {
    const int right = (blocks.rank + 1) % blocks.ranks;
    const int left = (blocks.rank - 1 + blocks.ranks) % blocks.ranks;
    for (int step = 0; step < blocks.ranks - 1; ++step) {
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
void neighbour(Steps& steps, const Blocks& blocks) noexcept {
    const int ranks = blocks.ranks;
    const bool even = blocks.rank % 2 == 0;
    const int right = (blocks.rank + 1) % ranks;
    const int left = (blocks.rank - 1 + ranks) % ranks;
    const int partner = even ? right : left;
    steps.exchange(blocks.of(blocks.rank), blocks.count, blocks.type, partner, blocks.of(partner), blocks.count,
        blocks.type, partner);
    steps.round();
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
void bruck(Steps& steps, const Blocks& blocks) noexcept {
    const int rank = blocks.rank;
    const int ranks = blocks.ranks;
    const MPI_Count bytes = blocks.count * blocks.type.size;
    auto* staged = static_cast<std::byte*>(steps.scratch(bytes * ranks, byte_type()));
    steps.copy(blocks.of(rank), blocks.count, blocks.type, staged, bytes, byte_type());
    steps.round();
    for (int have = 1; have < ranks; have *= 2) {
        const MPI_Count more = std::min(have, ranks - have) * bytes;
        steps.exchange(staged, more, byte_type(), (rank - have + ranks) % ranks, staged + have * bytes, more,
            byte_type(), (rank + have) % ranks);
        steps.round();
    }
    for (int i = 1; i < ranks; ++i) {
        steps.copy(staged + i * bytes, bytes, byte_type(), blocks.of((rank + i) % ranks), blocks.count, blocks.type);
    }
}

} // namespace

template <class Steps>
void allgather(Steps& steps, const Call& call, const Choice& choice) noexcept {
    const Communicator& comm = steps.comm();
    const Blocks blocks{call.recv, call.recv_count, *call.recv_type, comm.rank, comm.size};
    if (call.send != MPI_IN_PLACE) {
        steps.copy(call.send, call.send_count, *call.send_type, blocks.of(comm.rank), blocks.count, blocks.type);
        steps.round();
    }
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
