// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/communicators/parent_reduction.h"

#include <memory>

namespace patchbay {

// Where the leader of one group reaches the leader of another one; of meaning to leaders alone.
struct Bridge {
    Communicator* comm = nullptr;
    int rank = 0; // of the other leader, as messages on `comm` name it
    int tag = 0;
};

// Reductions over two groups that share no communicator: within each group, between the leaders, and again within each
// group, so that all hear the result. That words count twice does not matter to a maximum, a minimum or an
// intersection.
class BridgeReduction final : public cid::GroupReduction {
public:
    // `members`, the calling process among them, belong to the group of `local`, where nobody else uses `tag` now.
    // `leader` is a rank in `members`.
    BridgeReduction(Communicator& local, Ref<Group> members, int tag, int leader, const Bridge& bridge) noexcept
        : _members(std::move(members)),
          _bridge(bridge),
          _leads(_members->rank() == leader),
          _within(local, *_members, tag) {}

    int start(std::span<std::uint64_t> words, Operation operation) noexcept override;
    bool ready() const noexcept override;
    bool advance(int* code) noexcept override;

private:
    enum class Stage : std::uint8_t { gathering, crossing, spreading, finished };
    bool step(int* code) noexcept;

    Ref<Group> _members;
    Bridge _bridge;
    bool _leads;
    ParentReduction _within;
    PairwiseExchange _crossing;
    Stage _stage = Stage::finished;
    Operation _operation{};
    std::span<std::uint64_t> _words;
};

// Over all processes of an intercommunicator. Collective: takes the next tag of it and of its local side.
std::unique_ptr<BridgeReduction> bridge_over(Communicator& inter);

} // namespace patchbay
