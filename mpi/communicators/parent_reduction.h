// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/cid/cid.h"
#include "mpi/communicators/pairwise_exchange.h"
#include "object/error_code.h"

namespace patchbay {

// Reductions over some or all members of a communicator, by messages on that communicator. The algorithm is
// dissemination: in round k each member sends its words to the member with the rank 2^k higher (modulo n). After
// ceil(log2 n) rounds each member has the words of all members, for any n. A word may be counted more than once, which
// does not change a maximum, a minimum or a bitwise and. With Operation::first, a binomial tree distributes the words
// of the first member in the same rounds; only members that have these words send. After an error a member takes part
// in all rounds of this reduction that are left, with empty messages: no member waits for it here, and all that need
// its words get an error. Others may have finished without an error, and wait if they start another reduction.
class ParentReduction final : public cid::GroupReduction {
public:
    // `members` is a subset of the group of `over` and contains the calling process. No other operation uses `tag` on
    // `over` at the same time.
    ParentReduction(Communicator& over, const Group& members, int tag) noexcept
        : _over(over),
          _members(members),
          _tag(tag) {}

    int start(std::span<std::uint64_t> words, Operation operation) noexcept override {
        return start(words, operation, MPI_SUCCESS);
    }
    // `code`: an error of this process. The reduction ends with it, and with an error in the other members.
    int start(std::span<std::uint64_t> words, Operation operation, int code) noexcept;
    bool ready() const noexcept override { return _exchange.ready(); }
    bool advance(int* code) noexcept override;
    int attach(Continuation& next) noexcept override {
        _exchange.attach(next);
        return MPI_SUCCESS;
    }

private:
    int rank_in_parent(int member) const noexcept { return _over.group->rank_of(_members.process(member)); }
    void start_round() noexcept;
    void finish_round() noexcept;
    void note(int code) noexcept { _code = first_error(_code, code); }

    Communicator& _over;
    const Group& _members;
    int _tag;
    int _distance = 0; // of the round under way
    int _code = MPI_SUCCESS;
    Operation _operation{};
    std::span<std::uint64_t> _words;
    PairwiseExchange _exchange;
};

// Reduces `words`, and waits until the reduction is finished, by the Progress of `comm`, a communicator of the caller
// in the same instance. Returns an MPI code.
int complete(const Communicator& comm, cid::GroupReduction& reduction, std::span<std::uint64_t> words,
    cid::GroupReduction::Operation operation) noexcept;

// Waits until all processes of a communicator, in both groups of an intercommunicator, have called this function. For
// MPI_Finalize and MPI_Comm_disconnect, which do not use the collectives. Returns an MPI code.
int synchronize_finalize(Communicator& comm);

} // namespace patchbay
