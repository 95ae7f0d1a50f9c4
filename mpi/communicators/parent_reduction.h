// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/cid/cid.h"
#include "mpi/communicators/pairwise_exchange.h"

namespace patchbay {

// Reductions over some or all members of a communicator, by messages on it. They go by dissemination: in round k
// everybody sends what it knows to the member 2^k further on. After ceil(log2 n) rounds everybody has heard of
// everybody, for any n; that values count more than once does not matter to a maximum, a minimum or an intersection.
// What the first member alone says goes down a binomial tree: the same rounds, without those who have nothing to tell.
class ParentReduction final : public cid::GroupReduction {
public:
    // `members` all belong to the group of `over`, the calling process among them; nobody else uses `tag` now.
    ParentReduction(Communicator& over, const Group& members, int tag) noexcept
        : _over(over),
          _members(members),
          _tag(tag) {}

    int start(std::span<std::uint64_t> words, Operation operation) noexcept override;
    bool ready() const noexcept override { return _exchange.ready(); }
    bool advance(int* code) noexcept override;

private:
    int rank_in_parent(int member) const noexcept { return _over.group->rank_of(_members.process(member)); }
    int start_round() noexcept;
    int finish_round() noexcept;

    Communicator& _over;
    const Group& _members;
    int _tag;
    int _distance = 0; // of the round under way
    Operation _operation{};
    std::span<std::uint64_t> _words;
    PairwiseExchange _exchange;
};

// Reduces `words` and waits for it. Returns an MPI code.
int complete(Instance& instance, cid::GroupReduction& reduction, std::span<std::uint64_t> words,
    cid::GroupReduction::Operation operation) noexcept;

// Waits until all members of a communicator, of both its groups, have called it. For MPI_Finalize and
// MPI_Comm_disconnect, which may come when collectives are at work no more. Returns an MPI code.
int synchronize_finalize(Communicator& comm);

} // namespace patchbay
