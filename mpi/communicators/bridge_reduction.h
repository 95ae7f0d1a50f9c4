// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/communicators/parent_reduction.h"

#include <memory>

namespace patchbay {

// The path from the leader of one group to the leader of the other one; significant at the leaders only.
struct Bridge {
    Communicator* comm = nullptr;
    int rank = 0; // of the other leader, as the destination of messages on `comm`
    int tag = 0;
};

// Reductions over two groups without a common communicator, in three stages: a reduction within each group, an exchange
// between the leaders, and a second reduction within each group, which distributes the result. A word may be counted
// twice, which does not change a maximum, a minimum or a bitwise and. After an error all stages that are left follow,
// so that no process waits in this reduction. The other group gets an error if the leader had one before the exchange;
// an error that a member gets later reaches its own group only, and the other group may go on.
class BridgeReduction final : public cid::GroupReduction {
public:
    // `members` is a subset of the group of `local` and contains the calling process. No other operation uses `tag` on
    // `local` at the same time. `leader` is a rank in `members`.
    BridgeReduction(Communicator& local, Ref<Group> members, int tag, int leader, const Bridge& bridge) noexcept
        : _members(std::move(members)),
          _bridge(bridge),
          _is_leader(_members->rank() == leader),
          _within(local, *_members, tag) {}

    int start(std::span<std::uint64_t> words, Operation operation) noexcept override;
    bool ready() const noexcept override;
    bool advance(int* code) noexcept override;
    int attach(Continuation& next) noexcept override;

private:
    enum class Stage : std::uint8_t { reducing, exchanging, distributing, finished };
    bool step() noexcept;

    Ref<Group> _members;
    Bridge _bridge;
    bool _is_leader;
    ParentReduction _within;
    PairwiseExchange _exchange;
    Stage _stage = Stage::finished;
    int _code = MPI_SUCCESS;
    Operation _operation{};
    std::span<std::uint64_t> _words;
};

// A reduction over all processes of an intercommunicator. Collective, because it takes the next tag of the
// intercommunicator and of its local_comm.
std::unique_ptr<BridgeReduction> bridge_over(Communicator& inter);

} // namespace patchbay
