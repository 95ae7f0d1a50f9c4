// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/basic/basic.h"
#include "components/coll/basic/reduction.h"
#include "frameworks/coll/slots.h"
#include "frameworks/coll/tags.h"
#include "frameworks/coll/transfer.h"
#include "frameworks/coll/typed_buffer.h"
#include "object/typed_copy.h"

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
// other. The parts are combined in rank order. Which of the two functions a rank takes is its own affair: the messages
// are the same.
template <class Steps, class Parts>
void at_once(
    Steps& steps, const void* input, void* recv, const Datatype& type, const Op& op, const Parts& parts) noexcept {
    const int rank = steps.comm().rank;
    const int size = steps.comm().size;
    const MPI_Count own = parts.count_of(rank);
    const Slots all(steps, size, own, type);
    {
        typename Steps::Batch receives(steps);
        typename Steps::Batch sends(steps);
        MPI_Count next = parts.first_of(rank) + own; // the first element of the part of `dest`
        for (int distance = 1; distance < size; ++distance) {
            const int dest = (rank + distance) % size;
            const int source = (rank - distance + size) % size;
            next = dest == 0 ? 0 : next;
            receives.irecv(all[source], own, type, source);
            sends.isend(element(input, next, type), parts.count_of(dest), type, dest);
            next += parts.count_of(dest);
        }
        steps.copy(element(input, parts.first_of(rank), type), own, type, all[rank], own, type);
        sends.finish();
        receives.finish();
    }
    steps.round();
    for (int left = size - 2; left >= 0; --left) {
        steps.reduce(all[left], all[size - 1], own, type, op);
        steps.round();
    }
    steps.copy(all[size - 1], own, type, recv, own, type);
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

// The blocking form of two ranks, for any op: one message in each direction, received where the result will be wherever
// the order of the ranks and MPI_IN_PLACE admit that.
template <class Parts>
int of_pair(Communicator& comm, Function function, const void* send, void* recv, const Datatype& type, const Op& op,
    const Parts& parts) noexcept {
    Transfer transfer(comm, tag_of(function));
    const int peer = 1 - comm.rank;
    const bool in_place = send == MPI_IN_PLACE;
    const void* input = in_place ? recv : send;
    const void* mine = element(input, parts.first_of(comm.rank), type);
    const MPI_Count own = parts.count_of(comm.rank);
    const auto exchange = [&](void* room) {
        transfer.exchange(
            element(input, parts.first_of(peer), type), parts.count_of(peer), type, peer, room, own, type, peer);
    };
    const auto join = [&](const void* left, void* right) {
        if (!transfer.failed() && own > 0) {
            transfer.fail(op.apply(left, right, own, type));
        }
    };
    const auto copy_to_result = [&](const void* source) {
        if (!transfer.failed()) {
            transfer.fail(typed_copy(source, own, type, recv, own, type));
        }
    };
    const bool mine_may_be_left = comm.rank == 0 || op.is_commutative();
    if (mine_may_be_left && !in_place) {
        exchange(recv);
        join(mine, recv);
        return transfer.code();
    }
    // In place, the part of the peer stands where the result will be, or the result where the own part stands.
    TypedBuffer theirs(comm.coll->scratch_pool(), own, type);
    TypedBuffer mine_apart(comm.coll->scratch_pool(), mine_may_be_left ? 0 : own, type);
    if (!theirs.valid() || !mine_apart.valid()) [[unlikely]] {
        transfer.fail(MPI_ERR_NO_MEM);
    }
    exchange(theirs.data());
    if (mine_may_be_left) {
        join(mine, theirs.data());
        copy_to_result(theirs.data());
    } else {
        if (!transfer.failed()) {
            transfer.fail(typed_copy(mine, own, type, mine_apart.data(), own, type));
        }
        join(theirs.data(), mine_apart.data());
        copy_to_result(mine_apart.data());
    }
    return transfer.code();
}

template <class Parts>
int reduce_and_scatter_now(Communicator& comm, Function function, const void* send, void* recv, const Datatype& type,
    const Op& op, const Parts& parts) noexcept {
    constexpr int pair = 2;
    if (comm.size == pair) {
        return of_pair(comm, function, send, recv, type, op, parts);
    }
    Immediate steps(comm, function);
    reduce_and_scatter(steps, send, recv, type, op, parts);
    return steps.code();
}

} // namespace

int BasicModule::reduce_scatter(
    const void* send, void* recv, CountArray counts, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    return reduce_and_scatter_now(comm, Function::reduce_scatter, send, recv, type, op, UnevenParts(counts));
}

int BasicModule::reduce_scatter_block(
    const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    return reduce_and_scatter_now(comm, Function::reduce_scatter_block, send, recv, type, op, EqualParts(count));
}

void BasicModule::plan_reduce_scatter(const Call& call, Schedule& schedule) const noexcept {
    if (call.function == Function::reduce_scatter) {
        reduce_and_scatter(schedule, call.send, call.recv, *call.recv_type, *call.op, UnevenParts(call.recv_counts));
    } else {
        reduce_and_scatter(schedule, call.send, call.recv, *call.recv_type, *call.op, EqualParts(call.recv_count));
    }
}

} // namespace patchbay::coll::basic
