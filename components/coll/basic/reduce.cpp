// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/basic/basic.h"
#include "frameworks/coll/tags.h"
#include "frameworks/coll/transfer.h"
#include "frameworks/coll/typed_buffer.h"

#include <utility>

namespace patchbay::coll::basic {

namespace {

// One reduction under way: `mine` holds the result for a run of consecutive ranks, `theirs` takes a neighbour's.
// Combining keeps rank order, so operations need not commute.
class Reduction {
public:
    Reduction(Function function, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm) noexcept
        : transfer(comm, tag_of(function)),
          _count(count),
          _type(type),
          _op(op),
          _first(count, type),
          _second(count, type),
          _mine(_first.data()),
          _theirs(_second.data()) {
        if (!_first.valid() || !_second.valid()) {
            transfer.fail(MPI_ERR_NO_MEM);
        }
    }

    void start_with(const void* contribution) noexcept {
        if (!transfer.failed()) {
            copy(contribution, _count, _type, _mine, _count, _type);
        }
    }
    void finish_in(void* recv) const noexcept {
        if (!transfer.failed()) {
            copy(_mine, _count, _type, recv, _count, _type);
        }
    }

    void send_mine(int rank) noexcept { transfer.send(_mine, _count, _type, rank); }
    void recv_theirs(int rank) noexcept { transfer.recv(_theirs, _count, _type, rank); }
    void recv_mine(int rank) noexcept { transfer.recv(_mine, _count, _type, rank); }
    void exchange(int rank) noexcept { transfer.exchange(_mine, _count, _type, rank, _theirs, _count, _type, rank); }
    // After an error these do nothing.
    // mine = theirs op mine: they are the lower ranks.
    void combine_lower() noexcept { combine(_theirs, _mine); }
    // mine = mine op theirs: they are the higher ranks.
    void combine_higher() noexcept {
        combine(_mine, _theirs);
        std::swap(_mine, _theirs);
    }
    void combine(const void* in, void* inout) noexcept {
        if (!transfer.failed() && _count > 0) {
            transfer.fail(_op.apply(in, inout, _count, _type));
        }
    }
    void* theirs() const noexcept { return _theirs; }

    Transfer transfer;

private:
    MPI_Count _count;
    const Datatype& _type;
    const Op& _op;
    TypedBuffer _first;
    TypedBuffer _second;
    void* _mine;
    void* _theirs;
};

// Up a binomial tree to rank 0; each step joins two neighbouring runs of ranks.
void tree_to_zero(Reduction& reduction, const Communicator& comm) noexcept {
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

// Linear: each rank to rank 0, in rank order, and back: fewest wake-ups when ranks share cores.
void allreduce_linear(Reduction& reduction, const Communicator& comm) noexcept {
    if (comm.rank != 0) {
        reduction.send_mine(0);
        reduction.recv_mine(0);
        return;
    }
    for (int rank = 1; rank < comm.size; ++rank) {
        reduction.recv_theirs(rank);
        reduction.combine_higher();
    }
    for (int rank = 1; rank < comm.size; ++rank) {
        reduction.send_mine(rank);
    }
}

void combine_with(Reduction& reduction, int rank, int peer) noexcept {
    reduction.exchange(peer);
    if (peer < rank) {
        reduction.combine_lower();
    } else {
        reduction.combine_higher();
    }
}

// Recursive doubling. When the size is no power of two, the first 2 * surplus ranks pair up beforehand: the even one
// hands its part to its odd neighbour and gets the result back, so runs of ranks stay consecutive.
void allreduce_doubling(Reduction& reduction, const Communicator& comm) noexcept {
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
int allreduce_ring(void* recv, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    Transfer transfer(comm, tag_of(Function::allreduce));
    const int size = comm.size;
    const int right = (comm.rank + 1) % size;
    const int left = (comm.rank - 1 + size) % size;
    const auto first_of = [&](int part) { return count * part / size; };
    const auto count_of = [&](int part) { return first_of(part + 1) - first_of(part); };
    TypedBuffer incoming(count / size + 1, type);
    transfer.fail(incoming.valid() ? MPI_SUCCESS : MPI_ERR_NO_MEM);
    for (int step = 0; step < size - 1; ++step) {
        const int out = (comm.rank - step + size) % size;
        const int in = (out - 1 + size) % size;
        transfer.exchange(
            element(recv, first_of(out), type), count_of(out), type, right, incoming.data(), count_of(in), type, left);
        if (!transfer.failed()) {
            transfer.fail(op.apply(incoming.data(), element(recv, first_of(in), type), count_of(in), type));
        }
    }
    for (int step = 0; step < size - 1; ++step) {
        const int out = (comm.rank + 1 - step + size) % size;
        const int in = (out - 1 + size) % size;
        transfer.exchange(element(recv, first_of(out), type), count_of(out), type, right,
            element(recv, first_of(in), type), count_of(in), type, left);
    }
    return transfer.code();
}

} // namespace

int BasicModule::reduce(const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, int root,
    Communicator& comm) noexcept {
    Reduction reduction(Function::reduce, count, type, op, comm);
    reduction.start_with(send == MPI_IN_PLACE ? recv : send);
    tree_to_zero(reduction, comm);
    if (root == 0) {
        if (comm.rank == root) {
            reduction.finish_in(recv);
        }
    } else if (comm.rank == 0) {
        reduction.send_mine(root);
    } else if (comm.rank == root) {
        reduction.transfer.recv(recv, count, type, 0);
    }
    return reduction.transfer.code();
}

int BasicModule::allreduce(
    const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    const void* contribution = send == MPI_IN_PLACE ? recv : send;
    const bool large = std::size_t(count) * std::size_t(type.size) >= _settings.ring_from && count >= comm.size;
    if (large && op.is_commutative() && comm.size > 2) {
        if (send != MPI_IN_PLACE) {
            copy(send, count, type, recv, count, type);
        }
        return allreduce_ring(recv, count, type, op, comm);
    }
    Reduction reduction(Function::allreduce, count, type, op, comm);
    reduction.start_with(contribution);
    if (prefers_linear(_settings.allreduce, comm.size)) {
        allreduce_linear(reduction, comm);
    } else {
        allreduce_doubling(reduction, comm);
    }
    reduction.finish_in(recv);
    return reduction.transfer.code();
}

// Recursive doubling over the ranks below (MPI-5.0, 6.11): `mine` is the result for the run of ranks seen so far, the
// prefix is what came from lower runs. Partners beyond the end are left out; lower runs are always whole.
template <class Lower>
static int prefix_rounds(Reduction& reduction, const Communicator& comm, Lower lower) noexcept {
    for (int mask = 1; mask < comm.size; mask <<= 1) {
        const int partner = comm.rank ^ mask;
        if (partner >= comm.size) {
            continue;
        }
        reduction.exchange(partner);
        if (partner > comm.rank) {
            reduction.combine_higher();
        } else if (!reduction.transfer.failed()) {
            lower(reduction.theirs());
            reduction.combine_lower();
        }
    }
    return reduction.transfer.code();
}

int BasicModule::scan(
    const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    Reduction reduction(Function::scan, count, type, op, comm);
    if (send != MPI_IN_PLACE) {
        copy(send, count, type, recv, count, type);
    }
    reduction.start_with(recv);
    return prefix_rounds(reduction, comm, [&](const void* theirs) { reduction.combine(theirs, recv); });
}

int BasicModule::exscan(
    const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    Reduction reduction(Function::exscan, count, type, op, comm);
    reduction.start_with(send == MPI_IN_PLACE ? recv : send);
    bool first = true; // rank 0 never has a lower partner: its buffer stays as it is
    return prefix_rounds(reduction, comm, [&](const void* theirs) {
        if (std::exchange(first, false)) {
            copy(theirs, count, type, recv, count, type);
        } else {
            reduction.combine(theirs, recv);
        }
    });
}

} // namespace patchbay::coll::basic
