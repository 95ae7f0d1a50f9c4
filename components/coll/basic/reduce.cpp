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
          _theirs(_second.data()) {}

    bool valid() const noexcept { return _first.valid() && _second.valid(); }
    void* mine() const noexcept { return _mine; }
    void start_with(const void* contribution) noexcept { copy(contribution, _count, _type, _mine, _count, _type); }

    int send_mine(int rank) const noexcept { return transfer.send(_mine, _count, _type, rank); }
    int recv_theirs(int rank) noexcept { return transfer.recv(_theirs, _count, _type, rank); }
    int recv_mine(int rank) noexcept { return transfer.recv(_mine, _count, _type, rank); }
    int exchange(int rank) noexcept {
        return transfer.exchange(_mine, _count, _type, rank, _theirs, _count, _type, rank);
    }
    // mine = theirs op mine: they are the lower ranks.
    int combine_lower() noexcept { return _op.apply(_theirs, _mine, _count, _type); }
    // mine = mine op theirs: they are the higher ranks.
    int combine_higher() noexcept {
        const int code = _op.apply(_mine, _theirs, _count, _type);
        std::swap(_mine, _theirs);
        return code;
    }
    void* theirs() const noexcept { return _theirs; }

    const Transfer transfer;

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
int tree_to_zero(Reduction& reduction, const Communicator& comm) noexcept {
    int code = MPI_SUCCESS;
    for (int mask = 1; mask < comm.size && code == MPI_SUCCESS; mask <<= 1) {
        if ((comm.rank & mask) != 0) {
            return reduction.send_mine(comm.rank - mask);
        }
        if (comm.rank + mask < comm.size) {
            code = reduction.recv_theirs(comm.rank + mask);
            code = code == MPI_SUCCESS ? reduction.combine_higher() : code;
        }
    }
    return code;
}

// Linear: each rank to rank 0, in rank order, and back: fewest wake-ups when ranks share cores.
int allreduce_linear(Reduction& reduction, const Communicator& comm) noexcept {
    if (comm.rank != 0) {
        const int code = reduction.send_mine(0);
        return code == MPI_SUCCESS ? reduction.recv_mine(0) : code;
    }
    int code = MPI_SUCCESS;
    for (int rank = 1; rank < comm.size && code == MPI_SUCCESS; ++rank) {
        code = reduction.recv_theirs(rank);
        code = code == MPI_SUCCESS ? reduction.combine_higher() : code;
    }
    for (int rank = 1; rank < comm.size && code == MPI_SUCCESS; ++rank) {
        code = reduction.send_mine(rank);
    }
    return code;
}

int combine_with(Reduction& reduction, int rank, int peer) noexcept {
    const int code = reduction.exchange(peer);
    if (code != MPI_SUCCESS) {
        return code;
    }
    return peer < rank ? reduction.combine_lower() : reduction.combine_higher();
}

// Recursive doubling. When the size is no power of two, the first 2 * surplus ranks pair up beforehand: the even one
// hands its part to its odd neighbour and gets the result back, so runs of ranks stay consecutive.
int allreduce_doubling(Reduction& reduction, const Communicator& comm) noexcept {
    int power = 1;
    while (power * 2 <= comm.size) {
        power *= 2;
    }
    const int surplus = comm.size - power;
    const bool paired = comm.rank < 2 * surplus;
    if (paired && comm.rank % 2 == 0) {
        const int code = reduction.send_mine(comm.rank + 1);
        return code == MPI_SUCCESS ? reduction.recv_mine(comm.rank + 1) : code;
    }
    int code = MPI_SUCCESS;
    if (paired) {
        code = reduction.recv_theirs(comm.rank - 1);
        code = code == MPI_SUCCESS ? reduction.combine_lower() : code;
    }
    const int position = paired ? comm.rank / 2 : comm.rank - surplus;
    for (int mask = 1; mask < power && code == MPI_SUCCESS; mask <<= 1) {
        const int partner = position ^ mask;
        code = combine_with(reduction, comm.rank, partner < surplus ? partner * 2 + 1 : partner + surplus);
    }
    return paired && code == MPI_SUCCESS ? reduction.send_mine(comm.rank - 1) : code;
}

// Ring: each of `size` parts is reduced on its way round, then goes round once more: two copies of the data in all,
// however many ranks. The order of combination differs by part, so only for operations that commute.
int allreduce_ring(void* recv, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    const Transfer transfer(comm, tag_of(Function::allreduce));
    const int size = comm.size;
    const int right = (comm.rank + 1) % size;
    const int left = (comm.rank - 1 + size) % size;
    const auto first_of = [&](int part) { return count * part / size; };
    const auto count_of = [&](int part) { return first_of(part + 1) - first_of(part); };
    TypedBuffer incoming(count / size + 1, type);
    if (!incoming.valid()) {
        return MPI_ERR_NO_MEM;
    }
    int code = MPI_SUCCESS;
    for (int step = 0; step < size - 1 && code == MPI_SUCCESS; ++step) {
        const int out = (comm.rank - step + size) % size;
        const int in = (out - 1 + size) % size;
        code = transfer.exchange(
            element(recv, first_of(out), type), count_of(out), type, right, incoming.data(), count_of(in), type, left);
        if (code == MPI_SUCCESS) {
            code = op.apply(incoming.data(), element(recv, first_of(in), type), count_of(in), type);
        }
    }
    for (int step = 0; step < size - 1 && code == MPI_SUCCESS; ++step) {
        const int out = (comm.rank + 1 - step + size) % size;
        const int in = (out - 1 + size) % size;
        code = transfer.exchange(element(recv, first_of(out), type), count_of(out), type, right,
            element(recv, first_of(in), type), count_of(in), type, left);
    }
    return code;
}

} // namespace

int BasicModule::reduce(const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, int root,
    Communicator& comm) noexcept {
    Reduction reduction(Function::reduce, count, type, op, comm);
    if (!reduction.valid()) {
        return MPI_ERR_NO_MEM;
    }
    reduction.start_with(send == MPI_IN_PLACE ? recv : send);
    int code = tree_to_zero(reduction, comm);
    if (root != 0 && code == MPI_SUCCESS) {
        if (comm.rank == 0) {
            return reduction.send_mine(root);
        }
        if (comm.rank == root) {
            return reduction.transfer.recv(recv, count, type, 0);
        }
    } else if (comm.rank == root && code == MPI_SUCCESS) {
        copy(reduction.mine(), count, type, recv, count, type);
    }
    return code;
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
    if (!reduction.valid()) {
        return MPI_ERR_NO_MEM;
    }
    reduction.start_with(contribution);
    const int code = prefers_linear(_settings.allreduce, comm.size) ? allreduce_linear(reduction, comm)
                                                                    : allreduce_doubling(reduction, comm);
    if (code == MPI_SUCCESS) {
        copy(reduction.mine(), count, type, recv, count, type);
    }
    return code;
}

// Recursive doubling over the ranks below (MPI-5.0, 6.11): `mine` is the result for the run of ranks seen so far, the
// prefix is what came from lower runs. Partners beyond the end are left out; lower runs are always whole.
template <class Lower>
static int prefix_rounds(Reduction& reduction, const Communicator& comm, Lower lower) noexcept {
    int code = MPI_SUCCESS;
    for (int mask = 1; mask < comm.size && code == MPI_SUCCESS; mask <<= 1) {
        const int partner = comm.rank ^ mask;
        if (partner >= comm.size) {
            continue;
        }
        code = reduction.exchange(partner);
        if (code == MPI_SUCCESS && partner < comm.rank) {
            code = lower(reduction.theirs());
            code = code == MPI_SUCCESS ? reduction.combine_lower() : code;
        } else if (code == MPI_SUCCESS) {
            code = reduction.combine_higher();
        }
    }
    return code;
}

int BasicModule::scan(
    const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    Reduction reduction(Function::scan, count, type, op, comm);
    if (!reduction.valid()) {
        return MPI_ERR_NO_MEM;
    }
    if (send != MPI_IN_PLACE) {
        copy(send, count, type, recv, count, type);
    }
    reduction.start_with(recv);
    return prefix_rounds(reduction, comm, [&](const void* theirs) { return op.apply(theirs, recv, count, type); });
}

int BasicModule::exscan(
    const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    Reduction reduction(Function::exscan, count, type, op, comm);
    if (!reduction.valid()) {
        return MPI_ERR_NO_MEM;
    }
    reduction.start_with(send == MPI_IN_PLACE ? recv : send);
    bool first = true; // rank 0 never has a lower partner: its buffer stays as it is
    return prefix_rounds(reduction, comm, [&](const void* theirs) {
        if (std::exchange(first, false)) {
            copy(theirs, count, type, recv, count, type);
            return MPI_SUCCESS;
        }
        return op.apply(theirs, recv, count, type);
    });
}

} // namespace patchbay::coll::basic
