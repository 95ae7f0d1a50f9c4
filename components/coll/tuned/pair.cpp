// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/tuned/pair.h"

#include "components/coll/tuned/symmetric.h"
#include "frameworks/coll/tags.h"
#include "frameworks/coll/transfer.h"
#include "frameworks/coll/typed_buffer.h"
#include "object/typed_copy.h"

namespace patchbay::coll::tuned::pair {

namespace {

constexpr int ranks = 2;

// Whether the algorithm is, for two ranks, one whole message or one in each direction.
bool is_one_exchange(Function function, Algorithm algorithm) noexcept {
    switch (function) {
    case Function::bcast:
    case Function::gather:
    case Function::scatter:
    case Function::reduce:
        return algorithm == Algorithm::linear || algorithm == Algorithm::binomial;
    case Function::allgather:
        return algorithm == Algorithm::direct || algorithm == Algorithm::doubling || algorithm == Algorithm::ring ||
            algorithm == Algorithm::neighbour;
    case Function::alltoall:
        return algorithm == Algorithm::direct || algorithm == Algorithm::pairwise;
    case Function::allreduce:
        return algorithm == Algorithm::direct || algorithm == Algorithm::doubling;
    case Function::scan:
    case Function::exscan:
        return algorithm == Algorithm::linear;
    default:
        return false;
    }
}

int other(const Communicator& comm) noexcept {
    return 1 - comm.rank;
}

// A reduction in a member that gets the result.
struct Reduction {
    const void* mine;
    void* result;
    MPI_Count count;
    const Datatype& type;
    const Op& op;
    bool either_side; // the own contribution may be the left or the right operand; otherwise rank 0's is the left one
};

// receive(room, meanwhile) has the other contribution received in `room`, and calls meanwhile() as soon as the own one
// is on its way.
template <class Receive>
int receive_and_join(
    Transfer& transfer, const Communicator& comm, const Reduction& r, const Receive& receive) noexcept {
    const auto join = [&](const void* left, void* right) {
        if (!transfer.failed() && r.count > 0) {
            transfer.fail(r.op.apply(left, right, r.count, r.type));
        }
    };
    const auto copy_to_result = [&](const void* source) {
        if (!transfer.failed()) {
            transfer.fail(typed_copy(source, r.count, r.type, r.result, r.count, r.type));
        }
    };
    const bool in_place = r.mine == r.result;
    if (!in_place && (comm.rank == 0 || r.either_side)) {
        receive(r.result, [] {});
        join(r.mine, r.result);
        return transfer.code();
    }
    TypedBuffer theirs(comm.coll->scratch_pool(), r.count, r.type);
    if (!theirs.valid()) [[unlikely]] {
        transfer.fail(MPI_ERR_NO_MEM);
    }
    receive(theirs.data(), [&] {
        if (!in_place) {
            copy_to_result(r.mine);
        }
    });
    if (comm.rank == 1 || r.either_side) {
        join(theirs.data(), r.result);
    } else {
        join(r.mine, theirs.data());
        copy_to_result(theirs.data());
    }
    return transfer.code();
}

} // namespace

std::uint64_t limit(Function function, const Decisions& decisions) noexcept {
    return decisions.all_below(Form::blocking, [function](const Choice& choice) {
        return choice.segment == 0 && applies(function, choice.algorithm, ranks, false) &&
            is_one_exchange(function, choice.algorithm);
    });
}

int bcast(void* buffer, MPI_Count count, const Datatype& type, int root, Communicator& comm) noexcept {
    Transfer transfer(comm, tag_of(Function::bcast));
    return comm.rank == root ? transfer.send(buffer, count, type, other(comm))
                             : transfer.recv(buffer, count, type, root);
}

int gather(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv, MPI_Count recv_count,
    const Datatype& recv_type, int root, Communicator& comm) noexcept {
    Transfer transfer(comm, tag_of(Function::gather));
    if (comm.rank != root) {
        return transfer.send(send, send_count, send_type, root);
    }
    const int peer = other(comm);
    int copied = MPI_SUCCESS;
    if (send != MPI_IN_PLACE) { // before the message, which may still be under way
        copied =
            typed_copy(send, send_count, send_type, element(recv, root * recv_count, recv_type), recv_count, recv_type);
    }
    transfer.recv(element(recv, peer * recv_count, recv_type), recv_count, recv_type, peer);
    return transfer.fail(copied);
}

int scatter(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv, MPI_Count recv_count,
    const Datatype& recv_type, int root, Communicator& comm) noexcept {
    Transfer transfer(comm, tag_of(Function::scatter));
    if (comm.rank != root) {
        return transfer.recv(recv, recv_count, recv_type, root);
    }
    const int peer = other(comm);
    Request* outgoing = transfer.start_send(element(send, peer * send_count, send_type), send_count, send_type, peer);
    if (recv != MPI_IN_PLACE) {
        transfer.fail(typed_copy(
            element(send, root * send_count, send_type), send_count, send_type, recv, recv_count, recv_type));
    }
    return outgoing != nullptr ? transfer.finish_send(outgoing, peer) : transfer.code();
}

int allgather(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv, MPI_Count recv_count,
    const Datatype& recv_type, Communicator& comm) noexcept {
    Transfer transfer(comm, tag_of(Function::allgather));
    const int peer = other(comm);
    void* own = element(recv, comm.rank * recv_count, recv_type);
    void* theirs = element(recv, peer * recv_count, recv_type);
    if (send == MPI_IN_PLACE) {
        return transfer.exchange(own, recv_count, recv_type, peer, theirs, recv_count, recv_type, peer);
    }
    return transfer.exchange(send, send_count, send_type, peer, theirs, recv_count, recv_type, peer, [&] {
        if (!transfer.failed()) {
            transfer.fail(typed_copy(send, send_count, send_type, own, recv_count, recv_type));
        }
    });
}

int alltoall(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv, MPI_Count recv_count,
    const Datatype& recv_type, Communicator& comm) noexcept {
    Transfer transfer(comm, tag_of(Function::alltoall));
    const int own = comm.rank;
    const int peer = other(comm);
    return transfer.exchange(element(send, peer * send_count, send_type), send_count, send_type, peer,
        element(recv, peer * recv_count, recv_type), recv_count, recv_type, peer, [&] {
            if (!transfer.failed()) {
                transfer.fail(typed_copy(element(send, own * send_count, send_type), send_count, send_type,
                    element(recv, own * recv_count, recv_type), recv_count, recv_type));
            }
        });
}

int reduce(const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, int root,
    Communicator& comm) noexcept {
    Transfer transfer(comm, tag_of(Function::reduce));
    if (comm.rank != root) {
        return transfer.send(send, count, type, root);
    }
    const Reduction reduction{send == MPI_IN_PLACE ? recv : send, recv, count, type, op, op.is_commutative()};
    return receive_and_join(transfer, comm, reduction, [&](void* room, const auto& meanwhile) {
        meanwhile();
        transfer.recv(room, count, type, other(comm));
    });
}

int allreduce(
    const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    Transfer transfer(comm, tag_of(Function::allreduce));
    const void* mine = send == MPI_IN_PLACE ? recv : send;
    const int peer = other(comm);
    // Both members get the same result, bit by bit.
    const Reduction reduction{mine, recv, count, type, op, is_symmetric(op, type)};
    return receive_and_join(transfer, comm, reduction, [&](void* room, const auto& meanwhile) {
        transfer.exchange(mine, count, type, peer, room, count, type, peer, meanwhile);
    });
}

int scan(
    const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    Transfer transfer(comm, tag_of(Function::scan));
    const void* mine = send == MPI_IN_PLACE ? recv : send;
    if (comm.rank == 0) {
        transfer.send(mine, count, type, 1);
        if (mine != recv && !transfer.failed()) {
            transfer.fail(typed_copy(mine, count, type, recv, count, type));
        }
        return transfer.code();
    }
    const Reduction reduction{mine, recv, count, type, op, op.is_commutative()};
    return receive_and_join(transfer, comm, reduction, [&](void* room, const auto& meanwhile) {
        meanwhile();
        transfer.recv(room, count, type, 0);
    });
}

int exscan(const void* send, void* recv, MPI_Count count, const Datatype& type, Communicator& comm) noexcept {
    Transfer transfer(comm, tag_of(Function::exscan));
    return comm.rank == 0 ? transfer.send(send == MPI_IN_PLACE ? recv : send, count, type, 1)
                          : transfer.recv(recv, count, type, 0);
}

} // namespace patchbay::coll::tuned::pair
