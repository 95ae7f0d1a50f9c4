// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/tuned/accumulator.h"
#include "components/coll/tuned/halving.h"
#include "components/coll/tuned/tuned.h"

namespace patchbay::coll::tuned {

namespace {

struct Reduction {
    const void* contribution;
    void* result; // at the root
    MPI_Count count;
    const Datatype& type;
    const Op& op;
    int root;
};

// Each rank to the root.
template <class Steps>
void linear(Steps& steps, const Reduction& r) noexcept {
    const Communicator& comm = steps.comm();
    if (comm.rank != r.root) {
        steps.send(r.contribution, r.count, r.type, r.root);
        return;
    }
    const void* joined = receive_and_join(steps, r.contribution, r.count, r.type, r.op);
    steps.copy(joined, r.count, r.type, r.result, r.count, r.type);
}

// Up a binomial tree, whose ranks are relative to `top`. Returns false where this member has sent what it has.
template <class Steps>
bool up_tree(Accumulator<Steps>& accumulator, const Communicator& comm, int top) noexcept {
    const int relative = (comm.rank - top + comm.size) % comm.size;
    for (int mask = 1; mask < comm.size; mask <<= 1) {
        if ((relative & mask) != 0) {
            accumulator.send((comm.rank - mask + comm.size) % comm.size);
            return false;
        }
        if (relative + mask < comm.size) {
            accumulator.recv_higher((comm.rank + mask) % comm.size);
        }
    }
    return true;
}

// A tree whose top is the root joins the ranks in rank order, beginning with that of the root. An op that does not
// commute has rank 0 at the top instead, which sends the result to the root.
template <class Steps>
void binomial(Steps& steps, const Reduction& r, std::size_t segment) noexcept {
    const Communicator& comm = steps.comm();
    const int top = r.op.is_commutative() ? r.root : 0;
    Accumulator<Steps> accumulator(steps, Function::reduce, r.contribution, comm.rank == r.root ? r.result : nullptr,
        r.count, r.type, r.op, segment);
    const bool is_top = up_tree(accumulator, comm, top);
    if (top == r.root) {
        if (is_top) {
            accumulator.finish();
        }
    } else if (is_top) {
        steps.send(accumulator.mine(), r.count, r.type, r.root);
    } else if (comm.rank == r.root) {
        steps.recv(r.result, r.count, r.type, top);
    }
}

// Reduce-scatter by halves; then the parts go to the root by the same partners.
template <class Steps>
void halves(Steps& steps, const Reduction& r, std::size_t segment) noexcept {
    const Communicator& comm = steps.comm();
    const Positions positions(comm.rank, comm.size, r.root);
    if (positions.is_represented()) {
        steps.send(r.contribution, r.count, r.type, positions.neighbour());
        return;
    }
    void* data = comm.rank == r.root ? r.result : steps.scratch(r.count, r.type);
    Halving<Steps> halving(steps, Function::reduce, positions, r.contribution, data, r.count, r.type, r.op, segment);
    if (positions.is_paired()) {
        halving.join_neighbour();
    }
    halving.reduce_scatter();
    halving.gather(positions.position_of(r.root));
}

} // namespace

template <class Steps>
void reduce(Steps& steps, const Call& call, const Choice& choice) noexcept {
    const Reduction r{call.send == MPI_IN_PLACE ? call.recv : call.send, call.recv, call.recv_count, *call.recv_type,
        *call.op, call.root};
    switch (choice.algorithm) {
    case Algorithm::linear:
        return linear(steps, r);
    case Algorithm::halves:
        return halves(steps, r, choice.segment);
    default:
        return binomial(steps, r, choice.segment);
    }
}

template void reduce(Immediate&, const Call&, const Choice&) noexcept;
template void reduce(Schedule&, const Call&, const Choice&) noexcept;

} // namespace patchbay::coll::tuned
