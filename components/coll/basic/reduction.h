// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/coll/immediate.h"
#include "frameworks/coll/schedule.h"

#include <utility>

namespace patchbay::coll::basic {

// One reduction under way: `mine` holds the result for a run of consecutive ranks, `theirs` takes a neighbour's.
// Combining keeps rank order, so operations need not commute. Each function is a round of its own.
template <class Steps>
class Reduction {
public:
    Reduction(Steps& steps, MPI_Count count, const Datatype& type, const Op& op) noexcept
        : _steps(steps),
          _count(count),
          _type(type),
          _op(op),
          _mine(steps.scratch(count, type)),
          _theirs(steps.scratch(count, type)) {}

    void start_with(const void* contribution) noexcept {
        _steps.copy(contribution, _count, _type, _mine, _count, _type);
        _steps.round();
    }
    void finish_in(void* recv) noexcept { _steps.copy(_mine, _count, _type, recv, _count, _type); }

    void send_mine(int rank) noexcept {
        _steps.send(_mine, _count, _type, rank);
        _steps.round();
    }
    void send_mine_to_others(int first, int end) noexcept {
        for (int rank = first; rank < end; ++rank) {
            _steps.send(_mine, _count, _type, rank);
        }
        _steps.round();
    }
    void recv_theirs(int rank) noexcept {
        _steps.recv(_theirs, _count, _type, rank);
        _steps.round();
    }
    void recv_mine(int rank) noexcept {
        _steps.recv(_mine, _count, _type, rank);
        _steps.round();
    }
    void exchange(int rank) noexcept {
        _steps.exchange(_mine, _count, _type, rank, _theirs, _count, _type, rank);
        _steps.round();
    }
    // mine = theirs op mine: they are the lower ranks.
    void combine_lower() noexcept { combine(_theirs, _mine); }
    // mine = mine op theirs: they are the higher ranks.
    void combine_higher() noexcept {
        combine(_mine, _theirs);
        std::swap(_mine, _theirs);
    }
    void combine(const void* in, void* inout) noexcept {
        _steps.reduce(in, inout, _count, _type, _op);
        _steps.round();
    }
    void* theirs() const noexcept { return _theirs; }
    Steps& steps() const noexcept { return _steps; }

private:
    Steps& _steps;
    MPI_Count _count;
    const Datatype& _type;
    const Op& _op;
    void* _mine;
    void* _theirs;
};

// Up a binomial tree to rank 0; each step joins two neighbouring runs of ranks.
template <class Steps>
void tree_to_zero(Reduction<Steps>& reduction) noexcept {
    const Communicator& comm = reduction.steps().comm();
    for (int mask = 1; mask < comm.size; mask <<= 1) {
        if ((comm.rank & mask) != 0) {
            reduction.send_mine(comm.rank - mask);
            return;
        }
        if (comm.rank + mask < comm.size) {
            reduction.recv_theirs(comm.rank + mask);
            reduction.combine_higher();
        }
    }
}

// MPI_Reduce: to rank 0, and from there to the root. `recv` is significant at the root.
template <class Steps>
void reduce_to_root(Steps& steps, const void* contribution, void* recv, MPI_Count count, const Datatype& type,
    const Op& op, int root) noexcept {
    const Communicator& comm = steps.comm();
    Reduction<Steps> reduction(steps, count, type, op);
    reduction.start_with(contribution);
    tree_to_zero(reduction);
    if (root == 0) {
        if (comm.rank == root) {
            reduction.finish_in(recv);
        }
    } else if (comm.rank == 0) {
        reduction.send_mine(root);
    } else if (comm.rank == root) {
        steps.recv(recv, count, type, 0);
    }
    steps.round();
}

} // namespace patchbay::coll::basic
