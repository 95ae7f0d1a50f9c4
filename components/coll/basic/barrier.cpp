// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/basic/basic.h"
#include "frameworks/coll/immediate.h"
#include "frameworks/coll/schedule.h"
#include "object/handle.h"

namespace patchbay::coll::basic {

namespace {

// Linear: each rank sends to rank 0, which releases them: two wake-ups a rank, the fewest possible, and so the best
// algorithm when ranks share cores and a wake-up is a context switch.
template <class Steps>
void linear(Steps& steps) noexcept {
    const Communicator& comm = steps.comm();
    const Datatype& byte = *to_object<Datatype>(MPI_BYTE);
    if (comm.rank != 0) {
        steps.send(nullptr, 0, byte, 0);
        steps.recv(nullptr, 0, byte, 0);
        return;
    }
    for (int rank = 1; rank < comm.size; ++rank) {
        steps.recv(nullptr, 0, byte, rank);
    }
    steps.round();
    for (int rank = 1; rank < comm.size; ++rank) {
        steps.send(nullptr, 0, byte, rank);
    }
}

// Up and down a binomial tree rooted at 0.
template <class Steps>
void tree(Steps& steps) noexcept {
    const int rank = steps.comm().rank;
    const int size = steps.comm().size;
    const Datatype& byte = *to_object<Datatype>(MPI_BYTE);
    int mask = 1;
    for (; mask < size && (rank & mask) == 0; mask <<= 1) {
        if (rank + mask < size) {
            steps.recv(nullptr, 0, byte, rank + mask);
        }
    }
    steps.round();
    if (rank != 0) {
        steps.send(nullptr, 0, byte, rank - mask);
        steps.recv(nullptr, 0, byte, rank - mask);
        steps.round();
    }
    for (mask >>= 1; mask > 0; mask >>= 1) {
        if (rank + mask < size) {
            steps.send(nullptr, 0, byte, rank + mask);
        }
    }
}

// Dissemination: ceil(log2 size) rounds, in each of which every rank sends and receives.
template <class Steps>
void dissemination(Steps& steps) noexcept {
    const int rank = steps.comm().rank;
    const int size = steps.comm().size;
    const Datatype& byte = *to_object<Datatype>(MPI_BYTE);
    for (int distance = 1; distance < size; distance <<= 1) {
        steps.exchange(nullptr, 0, byte, (rank + distance) % size, nullptr, 0, byte, (rank - distance + size) % size);
        steps.round();
    }
}

} // namespace

template <class Steps>
void BasicModule::barrier_steps(Steps& steps) const noexcept {
    if (prefers_linear(_settings.barrier, steps.comm().size)) {
        linear(steps);
    } else if (_settings.barrier == Pattern::tree) {
        tree(steps);
    } else {
        dissemination(steps);
    }
}

int BasicModule::barrier(Communicator& comm) noexcept {
    Immediate steps(comm, Function::barrier);
    barrier_steps(steps);
    return steps.code();
}

void BasicModule::plan_barrier(Schedule& schedule) const noexcept {
    barrier_steps(schedule);
}

} // namespace patchbay::coll::basic
