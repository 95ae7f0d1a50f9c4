// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/coll/coll.h"
#include "frameworks/coll/effort.h"
#include "frameworks/coll/saved_buffer.h"

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace patchbay::coll {

class Engine;
class Operation;

// Finds the fastest of the schedules that a module has for a persistent operation: each is started several times on the
// program's buffers, which afterwards are as they were. Part of Engine::init().
//
// The members do this together. First they find out whether all of them want it, which only a message from each can
// tell, because the info is local. Every candidate has the tag of the operation in turn. The time of a candidate in one
// member is the mean of a row of starts, of the fastest of some rows; the maximum over all members counts, so that all
// of them find the same winner.
class Trials {
public:
    // Whether the members of this communicator ask each other at all. Equal in all of them.
    static bool are_possible(const Module& module, const Call& call, const Communicator& comm) noexcept;

    // `own`: the effort of this member.
    Trials(Engine& engine, Module& module, const Call& call, Communicator& comm, Effort own) noexcept;
    // `operation`: that of candidate 0, inactive, with its tag. The fastest one takes its place. Blocks. MPI_SUCCESS,
    // or an MPI code: the members could not communicate, and the operation is as it was.
    int run(Operation** operation) noexcept;

private:
    using Nanoseconds = std::int64_t;
    static constexpr Nanoseconds failed = std::numeric_limits<Nanoseconds>::max();
    // A candidate is started several times in a row, as a program does that has it in a loop: where ranks share cores,
    // a single start shows when the other ranks have run more than what it costs. A row has so many starts that it
    // takes about this long, at most `most_starts`.
    static constexpr Nanoseconds time_of_row = 1'000'000;
    static constexpr Nanoseconds most_starts = 100;
    static constexpr int rows = 10;

    int agree(std::int32_t* wanted) noexcept;
    int time_all(Operation** operation) noexcept;
    int time_candidate(Operation* operation, Nanoseconds* time) noexcept;
    Operation* make_candidate(std::size_t number, int tag) noexcept;
    Nanoseconds time_starts(Operation& operation, Nanoseconds starts) noexcept;
    int reduce(std::span<Nanoseconds> values, MPI_Op op) noexcept;
    int barrier() noexcept;
    void explain(const std::vector<Nanoseconds>& times) noexcept;

    Engine& _engine;
    Module& _module;
    const Call& _call;
    Communicator& _comm;
    const Effort _own;
    const std::size_t _count; // of candidates
    std::size_t _fastest = 0;
    SavedBuffer _saved;
};

} // namespace patchbay::coll
