// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/basic/basic.h"
#include "frameworks/coll/tags.h"
#include "frameworks/coll/transfer.h"
#include "object/handle.h"

namespace patchbay::coll::basic {

namespace {

struct Rounds {
    Communicator& comm;
    Transfer transfer;
    const Datatype& byte;

    explicit Rounds(Communicator& comm)
        : comm(comm),
          transfer(comm, tag_of(Function::barrier)),
          byte(*to_object<Datatype>(MPI_BYTE)) {}
    int tell(int rank) const noexcept { return transfer.send(nullptr, 0, byte, rank); }
    int hear(int rank) const noexcept { return transfer.recv(nullptr, 0, byte, rank); }
};

// Linear: each rank sends to rank 0, which releases them: two wake-ups a rank, the fewest possible, and so the best
// algorithm when ranks share cores and a wake-up is a context switch.
int linear(const Rounds& rounds) {
    const int size = rounds.comm.size;
    int code = MPI_SUCCESS;
    if (rounds.comm.rank != 0) {
        code = rounds.tell(0);
        return code == MPI_SUCCESS ? rounds.hear(0) : code;
    }
    for (int rank = 1; rank < size && code == MPI_SUCCESS; ++rank) {
        code = rounds.hear(rank);
    }
    for (int rank = 1; rank < size && code == MPI_SUCCESS; ++rank) {
        code = rounds.tell(rank);
    }
    return code;
}

// Up and down a binomial tree rooted at 0.
int tree(const Rounds& rounds) {
    const int rank = rounds.comm.rank;
    const int size = rounds.comm.size;
    int code = MPI_SUCCESS;
    int mask = 1;
    for (; mask < size && (rank & mask) == 0 && code == MPI_SUCCESS; mask <<= 1) {
        if (rank + mask < size) {
            code = rounds.hear(rank + mask);
        }
    }
    if (rank != 0 && code == MPI_SUCCESS) {
        code = rounds.tell(rank - mask);
        code = code == MPI_SUCCESS ? rounds.hear(rank - mask) : code;
    }
    for (mask >>= 1; mask > 0 && code == MPI_SUCCESS; mask >>= 1) {
        if (rank + mask < size) {
            code = rounds.tell(rank + mask);
        }
    }
    return code;
}

// Dissemination: ceil(log2 size) rounds, in each of which every rank sends and receives.
int dissemination(const Rounds& rounds) {
    const int rank = rounds.comm.rank;
    const int size = rounds.comm.size;
    int code = MPI_SUCCESS;
    for (int distance = 1; distance < size && code == MPI_SUCCESS; distance <<= 1) {
        code = rounds.transfer.exchange(nullptr, 0, rounds.byte, (rank + distance) % size, nullptr, 0, rounds.byte,
            (rank - distance + size) % size);
    }
    return code;
}

} // namespace

int BasicModule::barrier(Communicator& comm) noexcept {
    const Rounds rounds(comm);
    if (prefers_linear(_settings.barrier, comm.size)) {
        return linear(rounds);
    }
    return _settings.barrier == Pattern::tree ? tree(rounds) : dissemination(rounds);
}

} // namespace patchbay::coll::basic
