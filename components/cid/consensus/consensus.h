// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/cid/cid.h"
#include "frameworks/cid/counters.h"
#include "frameworks/cid/index_table.h"

#include <array>
#include <cstdint>

namespace patchbay::cid {

// One CID allocation by consensus: the members find, in rounds, an index that is free in all of them.
//
// Round A: each member reserves its lowest free index from `_from` on; one group reduction gives the highest and the
// lowest of these. When they are equal all members hold the same index and the allocation ends: the usual case. Round
// B: otherwise each member tries to take the highest one; a second reduction shows whether all could. If not, each
// member releases it and round A begins above it.
//
// Several threads may allocate at once and take indices away from each other, in a different order in each process. So
// that they do not collide again and again, an allocation that has failed skips some indices: how many depends on its
// number, and the range doubles with each failure. The number is the same in all members, which receive it from the
// leader in round A, and differs between allocations. Where no index is left above, it searches once more from the
// beginning, and skips none.
class ConsensusAllocation final : public Allocation {
public:
    // `number`: the leader's, which no other CID allocation of the job has; 0 in the other members.
    ConsensusAllocation(
        IndexTable& table, Counters& counters, const NewCommunicator& what, std::uint64_t number) noexcept
        : _table(table),
          _counters(counters),
          _what(what),
          _reduction(what.members),
          _number(number) {}
    ~ConsensusAllocation() override;

    // How many indices a CID allocation passes over after so many failures, as if drawn at random: one must not repeat
    // what the next one has just done, or both go on together to the end of the table.
    static std::uint32_t skipped_after(std::uint32_t failures, std::uint64_t number) noexcept;

    bool ready() const noexcept override { return _stage == Stage::begin || _reduction.ready(); }
    bool advance(int* code) noexcept override;
    int attach(Continuation& next) noexcept override { return _reduction.attach(next); }
    std::uint32_t rounds() const noexcept { return _rounds; }

private:
    enum class Stage : std::uint8_t { begin, proposed, tried };
    static constexpr std::uint32_t none = UINT32_MAX;

    int propose() noexcept;
    int take_highest() noexcept;
    int try_higher() noexcept;
    int search_all() noexcept;
    int finish() noexcept;
    void give_back() noexcept;
    int start_reduction(GroupReduction::Operation operation) noexcept;

    IndexTable& _table;
    Counters& _counters;
    const NewCommunicator _what;
    GroupReduction& _reduction;
    Stage _stage = Stage::begin;
    std::uint32_t _from = 0;
    std::uint32_t _held = none; // the index that we have reserved
    std::uint32_t _wanted = 0;  // the one that all shall take
    std::uint32_t _failures = 0;
    bool _has_skipped = false;  // an index, since it began at 0
    bool _searches_all = false; // once more, without skipping any
    std::uint32_t _rounds = 0;
    std::uint64_t _number; // the leader's, from round A on
    std::array<std::uint64_t, 3> _words{};
};

} // namespace patchbay::cid
