// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/basic/basic.h"
#include "components/coll/basic/reduction.h"

namespace patchbay::coll::basic {

namespace {

// The part of the result that each rank gets.
class UnevenParts {
public:
    explicit UnevenParts(CountArray counts) noexcept
        : _counts(counts) {}
    MPI_Count count_of(int rank) const noexcept { return _counts[std::size_t(rank)]; }
    MPI_Count first_of(int rank) const noexcept {
        MPI_Count first = 0;
        for (int before = 0; before < rank; ++before) {
            first += count_of(before);
        }
        return first;
    }

private:
    CountArray _counts;
};
class EqualParts {
public:
    explicit EqualParts(MPI_Count count) noexcept
        : _count(count) {}
    MPI_Count count_of(int) const noexcept { return _count; }
    MPI_Count first_of(int rank) const noexcept { return rank * _count; }

private:
    MPI_Count _count;
};

// Each rank sends each other rank its part and combines what it receives: one pass over the data, in an order that
// differs by rank, so only for operations that commute.
template <class Steps, class Parts>
void pairwise(
    Steps& steps, const void* input, void* recv, const Datatype& type, const Op& op, const Parts& parts) noexcept {
    const int rank = steps.comm().rank;
    const int size = steps.comm().size;
    const MPI_Count own = parts.count_of(rank);
    const MPI_Count first = parts.first_of(rank);
    void* result = steps.scratch(own, type);
    void* incoming = steps.scratch(own, type);
    steps.copy(element(input, first, type), own, type, result, own, type);
    steps.round();
    MPI_Count next = first + own; // the first element of the part of `dest`
    for (int distance = 1; distance < size; ++distance) {
        const int dest = (rank + distance) % size;
        const int source = (rank - distance + size) % size;
        next = dest == 0 ? 0 : next;
        steps.exchange(element(input, next, type), parts.count_of(dest), type, dest, incoming, own, type, source);
        steps.round();
        steps.reduce(incoming, result, own, type, op);
        steps.round();
        next += parts.count_of(dest);
    }
    steps.copy(result, own, type, recv, own, type);
}

// Parts of at most this many bytes, of all ranks together, are exchanged at once.
constexpr MPI_Count most_at_once = 32 << 10;

// As pairwise(), but all messages are under way at once, so that a rank waits once and not for one rank after the
// other; the parts are combined in rank order, so the result is that
// of one order for all. Which of the functions a rank takes is its own affair: the messages are the same.
template <class Steps, class Parts>
void at_once(
    Steps& steps, const void* input, void* recv, const Datatype& type, const Op& op, const Parts& parts) noexcept {
    const int rank = steps.comm().rank;
    const int size = steps.comm().size;
    const MPI_Count own = parts.count_of(rank);
    void* all = steps.scratch(size * own, type);
    {
        typename Steps::Batch receives(steps);
        typename Steps::Batch sends(steps);
        MPI_Count next = parts.first_of(rank) + own; // the first element of the part of `dest`
        for (int distance = 1; distance < size; ++distance) {
            const int dest = (rank + distance) % size;
            const int source = (rank - distance + size) % size;
            next = dest == 0 ? 0 : next;
            receives.irecv(element(all, source * own, type), own, type, source);
            sends.isend(element(input, next, type), parts.count_of(dest), type, dest);
            next += parts.count_of(dest);
        }
        steps.copy(
            element(input, parts.first_of(rank), type), own, type, element(all, rank * own, type), own, type);
        sends.finish();
        receives.finish();
    }
    steps.round();
    for (int left = size - 2; left >= 0; --left) {
        steps.reduce(element(all, left * own, type), element(all, (size - 1) * own, type), own, type, op);
        steps.round();
    }
    steps.copy(element(all, (size - 1) * own, type), own, type, recv, own, type);
}

// To rank 0 in rank order, which sends each rank its part.
template <class Steps, class Parts>
void by_rank_zero(
    Steps& steps, const void* input, void* recv, const Datatype& type, const Op& op, const Parts& parts) noexcept {
    const int rank = steps.comm().rank;
    const int size = steps.comm().size;
    const MPI_Count own = parts.count_of(rank);
    const MPI_Count total = parts.first_of(size);
    void* whole = steps.scratch(rank == 0 ? total : 0, type);
    reduce_to_root(steps, input, whole, total, type, op, 0);
    if (rank != 0) {
        steps.recv(recv, own, type, 0);
        return;
    }
    steps.copy(whole, own, type, recv, own, type);
    typename Steps::Batch batch(steps);
    MPI_Count first = own;
    for (int dest = 1; dest < size; ++dest) {
        batch.isend(element(whole, first, type), parts.count_of(dest), type, dest);
        first += parts.count_of(dest);
    }
    batch.finish();
}

template <class Steps, class Parts>
void reduce_and_scatter(
    Steps& steps, const void* send, void* recv, const Datatype& type, const Op& op, const Parts& parts) noexcept {
    const void* input = send == MPI_IN_PLACE ? recv : send;
    const MPI_Count own_bytes = parts.count_of(steps.comm().rank) * type.size;
    if (op.is_commutative() && own_bytes * steps.comm().size <= most_at_once) {
        at_once(steps, input, recv, type, op, parts);
    } else if (op.is_commutative()) {
        pairwise(steps, input, recv, type, op, parts);
    } else {
        by_rank_zero(steps, input, recv, type, op, parts);
    }
}

} // namespace

int BasicModule::reduce_scatter(
    const void* send, void* recv, CountArray counts, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    Immediate steps(comm, Function::reduce_scatter);
    reduce_and_scatter(steps, send, recv, type, op, UnevenParts(counts));
    return steps.code();
}

int BasicModule::reduce_scatter_block(
    const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    Immediate steps(comm, Function::reduce_scatter_block);
    reduce_and_scatter(steps, send, recv, type, op, EqualParts(count));
    return steps.code();
}

void BasicModule::plan_reduce_scatter(const Call& call, Schedule& schedule) const noexcept {
    if (call.function == Function::reduce_scatter) {
        reduce_and_scatter(schedule, call.send, call.recv, *call.recv_type, *call.op, UnevenParts(call.recv_counts));
    } else {
        reduce_and_scatter(schedule, call.send, call.recv, *call.recv_type, *call.op, EqualParts(call.recv_count));
    }
}

} // namespace patchbay::coll::basic
