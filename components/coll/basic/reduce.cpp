// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/basic/basic.h"
#include "components/coll/basic/reduction.h"

namespace patchbay::coll::basic {

namespace {

// Linear: each rank to rank 0, in rank order, and back: fewest wake-ups when ranks share cores.
template <class Steps>
void allreduce_linear(Reduction<Steps>& reduction) noexcept {
    const Communicator& comm = reduction.steps().comm();
    if (comm.rank != 0) {
        reduction.send_mine(0);
        reduction.recv_mine(0);
        return;
    }
    for (int rank = 1; rank < comm.size; ++rank) {
        reduction.recv_theirs(rank);
        reduction.combine_higher();
    }
    reduction.send_mine_to_others(1, comm.size);
}

template <class Steps>
void combine_with(Reduction<Steps>& reduction, int rank, int peer) noexcept {
    reduction.exchange(peer);
    if (peer < rank) {
        reduction.combine_lower();
    } else {
        reduction.combine_higher();
    }
}

// Recursive doubling. When the size is no power of two, the first 2 * surplus ranks pair up beforehand: the even one
// hands its part to its odd neighbour and gets the result back, so runs of ranks stay consecutive.
template <class Steps>
void allreduce_doubling(Reduction<Steps>& reduction) noexcept {
    const Communicator& comm = reduction.steps().comm();
    int power = 1;
    while (power * 2 <= comm.size) {
        power *= 2;
    }
    const int surplus = comm.size - power;
    const bool paired = comm.rank < 2 * surplus;
    if (paired && comm.rank % 2 == 0) {
        reduction.send_mine(comm.rank + 1);
        reduction.recv_mine(comm.rank + 1);
        return;
    }
    if (paired) {
        reduction.recv_theirs(comm.rank - 1);
        reduction.combine_lower();
    }
    const int position = paired ? comm.rank / 2 : comm.rank - surplus;
    for (int mask = 1; mask < power; mask <<= 1) {
        const int partner = position ^ mask;
        combine_with(reduction, comm.rank, partner < surplus ? partner * 2 + 1 : partner + surplus);
    }
    if (paired) {
        reduction.send_mine(comm.rank - 1);
    }
}

// Ring: each of `size` parts is reduced on its way round, then goes round once more: two copies of the data in all,
// however many ranks. The order of combination differs by part, so only for operations that commute.
template <class Steps>
void allreduce_ring(Steps& steps, void* recv, MPI_Count count, const Datatype& type, const Op& op) noexcept {
    const int rank = steps.comm().rank;
    const int size = steps.comm().size;
    const int right = (rank + 1) % size;
    const int left = (rank - 1 + size) % size;
    const auto first_of = [&](int part) { return count * part / size; };
    const auto count_of = [&](int part) { return first_of(part + 1) - first_of(part); };
    void* incoming = steps.scratch(count / size + 1, type);
    for (int step = 0; step < size - 1; ++step) {
        const int out = (rank - step + size) % size;
        const int in = (out - 1 + size) % size;
        steps.exchange(
            element(recv, first_of(out), type), count_of(out), type, right, incoming, count_of(in), type, left);
        steps.round();
        steps.reduce(incoming, element(recv, first_of(in), type), count_of(in), type, op);
        steps.round();
    }
    for (int step = 0; step < size - 1; ++step) {
        const int out = (rank + 1 - step + size) % size;
        const int in = (out - 1 + size) % size;
        steps.exchange(element(recv, first_of(out), type), count_of(out), type, right,
            element(recv, first_of(in), type), count_of(in), type, left);
        steps.round();
    }
}

// Recursive doubling over the ranks below (MPI-5.0, 6.11): `mine` is the result for the run of ranks seen so far, the
// prefix is what came from lower runs. Partners beyond the end are left out; lower runs are always whole.
template <class Steps, class Lower>
void prefix_rounds(Reduction<Steps>& reduction, Lower lower) noexcept {
    const Communicator& comm = reduction.steps().comm();
    for (int mask = 1; mask < comm.size; mask <<= 1) {
        const int partner = comm.rank ^ mask;
        if (partner >= comm.size) {
            continue;
        }
        reduction.exchange(partner);
        if (partner > comm.rank) {
            reduction.combine_higher();
        } else {
            lower(reduction.theirs());
            reduction.combine_lower();
        }
    }
}

template <class Steps>
void inclusive_prefix(
    Steps& steps, const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op) noexcept {
    Reduction<Steps> reduction(steps, count, type, op);
    if (send != MPI_IN_PLACE) {
        steps.copy(send, count, type, recv, count, type);
        steps.round();
    }
    reduction.start_with(recv);
    prefix_rounds(reduction, [&](const void* theirs) { reduction.combine(theirs, recv); });
}

template <class Steps>
void exclusive_prefix(
    Steps& steps, const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op) noexcept {
    Reduction<Steps> reduction(steps, count, type, op);
    reduction.start_with(send == MPI_IN_PLACE ? recv : send);
    bool first = true; // rank 0 never has a lower partner: its buffer stays as it is
    prefix_rounds(reduction, [&](const void* theirs) {
        if (std::exchange(first, false)) {
            steps.copy(theirs, count, type, recv, count, type);
            steps.round();
        } else {
            reduction.combine(theirs, recv);
        }
    });
}

} // namespace

template <class Steps>
void BasicModule::allreduce_steps(
    Steps& steps, const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op) const noexcept {
    const int size = steps.comm().size;
    const bool large = std::size_t(count) * std::size_t(type.size) >= _settings.ring_from && count >= size;
    if (large && op.is_commutative() && size > 2) {
        if (send != MPI_IN_PLACE) {
            steps.copy(send, count, type, recv, count, type);
            steps.round();
        }
        allreduce_ring(steps, recv, count, type, op);
        return;
    }
    Reduction<Steps> reduction(steps, count, type, op);
    reduction.start_with(send == MPI_IN_PLACE ? recv : send);
    if (prefers_linear(_settings.allreduce, size)) {
        allreduce_linear(reduction);
    } else {
        allreduce_doubling(reduction);
    }
    reduction.finish_in(recv);
}

int BasicModule::reduce(const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, int root,
    Communicator& comm) noexcept {
    Immediate steps(comm, Function::reduce);
    reduce_to_root(steps, send == MPI_IN_PLACE ? recv : send, recv, count, type, op, root);
    return steps.code();
}

int BasicModule::allreduce(
    const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    Immediate steps(comm, Function::allreduce);
    allreduce_steps(steps, send, recv, count, type, op);
    return steps.code();
}

int BasicModule::scan(
    const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    Immediate steps(comm, Function::scan);
    inclusive_prefix(steps, send, recv, count, type, op);
    return steps.code();
}

int BasicModule::exscan(
    const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    Immediate steps(comm, Function::exscan);
    exclusive_prefix(steps, send, recv, count, type, op);
    return steps.code();
}

void BasicModule::plan_reduction(const Call& call, Schedule& schedule) const noexcept {
    const void* send = call.send;
    const MPI_Count count = call.recv_count;
    switch (call.function) {
    case Function::reduce:
        reduce_to_root(
            schedule, send == MPI_IN_PLACE ? call.recv : send, call.recv, count, *call.recv_type, *call.op, call.root);
        break;
    case Function::allreduce:
        allreduce_steps(schedule, send, call.recv, count, *call.recv_type, *call.op);
        break;
    case Function::scan:
        inclusive_prefix(schedule, send, call.recv, count, *call.recv_type, *call.op);
        break;
    default:
        exclusive_prefix(schedule, send, call.recv, count, *call.recv_type, *call.op);
        break;
    }
}

} // namespace patchbay::coll::basic
