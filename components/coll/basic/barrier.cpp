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

    explicit Rounds(Communicator& comm) noexcept
        : comm(comm),
          transfer(comm, tag_of(Function::barrier)),
          byte(*to_object<Datatype>(MPI_BYTE)) {}
    void tell(int rank) noexcept { transfer.send(nullptr, 0, byte, rank); }
    void receive(int rank) noexcept { transfer.recv(nullptr, 0, byte, rank); }
};

// Linear: each rank sends to rank 0, which releases them: two wake-ups a rank, the fewest possible, and so the best
// algorithm when ranks share cores and a wake-up is a context switch.
void linear(Rounds& rounds) noexcept {
    const int size = rounds.comm.size;
    if (rounds.comm.rank != 0) {
        rounds.tell(0);
        rounds.receive(0);
        return;
    }
    for (int rank = 1; rank < size; ++rank) {
        rounds.receive(rank);
    }
    for (int rank = 1; rank < size; ++rank) {
        rounds.tell(rank);
    }
}

// Up and down a binomial tree rooted at 0.
void tree(Rounds& rounds) noexcept {
    const int rank = rounds.comm.rank;
    const int size = rounds.comm.size;
    int mask = 1;
    for (; mask < size && (rank & mask) == 0; mask <<= 1) {
        if (rank + mask < size) {
            rounds.receive(rank + mask);
        }
    }
    if (rank != 0) {
        rounds.tell(rank - mask);
        rounds.receive(rank - mask);
    }
    for (mask >>= 1; mask > 0; mask >>= 1) {
        if (rank + mask < size) {
            rounds.tell(rank + mask);
        }
    }
}

// Dissemination: ceil(log2 size) rounds, in each of which every rank sends and receives.
void dissemination(Rounds& rounds) noexcept {
    const int rank = rounds.comm.rank;
    const int size = rounds.comm.size;
    for (int distance = 1; distance < size; distance <<= 1) {
        rounds.transfer.exchange(nullptr, 0, rounds.byte, (rank + distance) % size, nullptr, 0, rounds.byte,
            (rank - distance + size) % size);
    }
}

} // namespace

int BasicModule::barrier(Communicator& comm) noexcept {
    Rounds rounds(comm);
    if (prefers_linear(_settings.barrier, comm.size)) {
        linear(rounds);
    } else if (_settings.barrier == Pattern::tree) {
        tree(rounds);
    } else {
        dissemination(rounds);
    }
    return rounds.transfer.code();
}

} // namespace patchbay::coll::basic
