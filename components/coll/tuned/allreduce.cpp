// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/tuned/accumulator.h"
#include "components/coll/tuned/halving.h"
#include "components/coll/tuned/tuned.h"

#include <algorithm>
#include <utility>

namespace patchbay::coll::tuned {

namespace {

struct Reduction {
    const void* contribution;
    void* result;
    MPI_Count count;
    const Datatype& type;
    const Op& op;
};

// A member that takes no other part: `peer` gets its contribution, and sends it the result.
template <class Steps>
void exchange_with(Steps& steps, const Reduction& r, int peer) noexcept {
    steps.send(r.contribution, r.count, r.type, peer);
    steps.round();
    steps.recv(r.result, r.count, r.type, peer);
}

// Each rank to rank 0, which sends the result to each.
template <class Steps>
void linear(Steps& steps, const Reduction& r) noexcept {
    const Communicator& comm = steps.comm();
    if (comm.rank != 0) {
        return exchange_with(steps, r, 0);
    }
    const void* joined = receive_and_join(steps, r.contribution, r.count, r.type, r.op);
    typename Steps::Batch sends(steps);
    for (int rank = 1; rank < comm.size; ++rank) {
        sends.isend(joined, r.count, r.type, rank);
    }
    steps.copy(joined, r.count, r.type, r.result, r.count, r.type);
    sends.finish();
}

// Each rank to each rank, all of which reduce in the same order.
template <class Steps>
void direct(Steps& steps, const Reduction& r) noexcept {
    const int own = steps.comm().rank;
    const int ranks = steps.comm().size;
    const Slots slots(steps, ranks, r.count, r.type);
    typename Steps::Batch receives(steps);
    typename Steps::Batch sends(steps);
    for (int distance = 1; distance < ranks; ++distance) {
        const int source = (own - distance + ranks) % ranks;
        sends.isend(r.contribution, r.count, r.type, (own + distance) % ranks);
        receives.irecv(slots[source], r.count, r.type, source);
    }
    sends.finish();
    receives.finish();
    const void* joined = join_all(steps, r.contribution, slots, own, ranks, r.count, r.type, r.op);
    steps.copy(joined, r.count, r.type, r.result, r.count, r.type);
}

// Recursive doubling: in each round two runs of ranks become one.
template <class Steps>
const void* doubling_rounds(
    Steps& steps, const Reduction& r, const Positions& positions, const void* mine, std::size_t segment) noexcept {
    Accumulator<Steps> all(steps, Function::allreduce, mine, r.result, r.count, r.type, r.op, segment);
    for (int bit = 1; bit < positions.power(); bit <<= 1) {
        const int peer = positions.rank_of(positions.position() ^ bit);
        if (peer < steps.comm().rank) {
            all.exchange_lower(peer);
        } else {
            all.exchange_higher(peer);
        }
    }
    return all.mine();
}

// The same with `radix` runs at a time, of which each member receives all others.
template <class Steps>
const void* radix_rounds(
    Steps& steps, const Reduction& r, const Positions& positions, const void* mine, int radix) noexcept {
    const int most = std::min(radix, positions.power());
    Slots slots(steps, most, r.count, r.type);
    Slots other_slots = most < positions.power() ? Slots(steps, most, r.count, r.type) : Slots();
    for (int run = 1; run < positions.power(); run *= radix) {
        const int runs = std::min(radix, positions.power() / run);
        const int own = positions.position() / run % runs;
        const auto peer_of = [&](int i) { return positions.rank_of(positions.position() + (i - own) * run); };
        typename Steps::Batch receives(steps);
        typename Steps::Batch sends(steps);
        for (int distance = 1; distance < runs; ++distance) {
            const int from = (own - distance + runs) % runs;
            sends.isend(mine, r.count, r.type, peer_of((own + distance) % runs));
            receives.irecv(slots[from], r.count, r.type, peer_of(from));
        }
        sends.finish();
        receives.finish();
        mine = join_all(steps, mine, slots, own, runs, r.count, r.type, r.op);
        std::swap(slots, other_slots);
    }
    return mine;
}

template <class Steps>
void doubling(Steps& steps, const Reduction& r, const Choice& choice) noexcept {
    const Communicator& comm = steps.comm();
    const Positions positions(comm.rank, comm.size, MPI_UNDEFINED);
    if (positions.is_represented()) {
        return exchange_with(steps, r, positions.neighbour());
    }
    const void* mine = r.contribution;
    if (positions.is_paired()) {
        void* theirs = steps.scratch(r.count, r.type);
        steps.recv(theirs, r.count, r.type, positions.neighbour());
        if (mine != r.result) {
            steps.copy(mine, r.count, r.type, r.result, r.count, r.type);
        }
        steps.round();
        steps.reduce(theirs, r.result, r.count, r.type, r.op);
        steps.round();
        mine = r.result;
    }
    mine = choice.radix == 2 ? doubling_rounds(steps, r, positions, mine, choice.segment)
                             : radix_rounds(steps, r, positions, mine, choice.radix);
    if (positions.is_paired()) {
        steps.send(mine, r.count, r.type, positions.neighbour());
    }
    if (mine != r.result) {
        steps.copy(mine, r.count, r.type, r.result, r.count, r.type);
    }
}

// Reduce-scatter by halves, then the same way back (Rabenseifner).
template <class Steps>
void halves(Steps& steps, const Reduction& r, std::size_t segment) noexcept {
    const Communicator& comm = steps.comm();
    const Positions positions(comm.rank, comm.size, MPI_UNDEFINED);
    if (positions.is_represented()) {
        return exchange_with(steps, r, positions.neighbour());
    }
    Halving<Steps> halving(
        steps, Function::allreduce, positions, r.contribution, r.result, r.count, r.type, r.op, segment);
    if (positions.is_paired()) {
        halving.join_neighbour();
    }
    halving.reduce_scatter();
    halving.allgather();
    if (positions.is_paired()) {
        steps.send(r.result, r.count, r.type, positions.neighbour());
    }
}

// One part of the vector for each rank goes round the ring and is reduced on its way, then goes round once more. The
// order of the ranks differs by part, so that this is for ops that commute.
template <class Steps>
void ring(Steps& steps, const Reduction& r) noexcept {
    const int rank = steps.comm().rank;
    const int ranks = steps.comm().size;
    const int right = (rank + 1) % ranks;
    const int left = (rank - 1 + ranks) % ranks;
    const auto first_of = [&](int part) { return r.count / ranks * part + r.count % ranks * part / ranks; };
    const auto count_of = [&](int part) { return first_of(part + 1) - first_of(part); };
    const auto result_of = [&](int part) { return element(r.result, first_of(part), r.type); };
    const bool in_place = r.contribution == r.result;
    void* incoming = in_place ? steps.scratch(r.count / ranks + 1, r.type) : nullptr;
    const void* source = r.contribution;
    for (int step = 0; step < ranks - 1; ++step) {
        const int out = (rank - step + ranks) % ranks;
        const int in = (out - 1 + ranks) % ranks;
        void* theirs = in_place ? incoming : result_of(in);
        steps.exchange(
            element(source, first_of(out), r.type), count_of(out), r.type, right, theirs, count_of(in), r.type, left);
        steps.round();
        if (in_place) {
            steps.reduce(theirs, result_of(in), count_of(in), r.type, r.op);
        } else {
            steps.reduce(element(r.contribution, first_of(in), r.type), theirs, count_of(in), r.type, r.op);
        }
        steps.round();
        source = r.result;
    }
    for (int step = 0; step < ranks - 1; ++step) {
        const int out = (rank + 1 - step + ranks) % ranks;
        const int in = (out - 1 + ranks) % ranks;
        steps.exchange(result_of(out), count_of(out), r.type, right, result_of(in), count_of(in), r.type, left);
        steps.round();
    }
}

} // namespace

template <class Steps>
void allreduce(Steps& steps, const Call& call, const Choice& choice) noexcept {
    const bool in_place = call.send == MPI_IN_PLACE;
    const Reduction r{in_place ? call.recv : call.send, call.recv, call.recv_count, *call.recv_type, *call.op};
    switch (choice.algorithm) {
    case Algorithm::linear:
        return linear(steps, r);
    case Algorithm::direct:
        return direct(steps, r);
    case Algorithm::halves:
        return halves(steps, r, choice.segment);
    case Algorithm::ring:
        return ring(steps, r);
    default:
        return doubling(steps, r, choice);
    }
}

template void allreduce(Immediate&, const Call&, const Choice&) noexcept;
template void allreduce(Schedule&, const Call&, const Choice&) noexcept;

} // namespace patchbay::coll::tuned
