// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/communicator.h"

#include <cstdint>
#include <vector>

namespace patchbay {

// Functions that the constructors use which split a communicator (mpi/communicators/communicators.h).

inline constexpr std::int64_t no_color = -1;

// The arguments of one process, in the format of the message.
struct SplitArguments {
    std::int64_t color;
    std::int32_t key;
    std::int32_t refused; // the error of this process, or MPI_SUCCESS
};
static_assert(sizeof(SplitArguments) == 2 * sizeof(std::int64_t));

// Gathers the arguments of all members, by rank. Collective.
int gather_split_arguments(Communicator& parent, SplitArguments mine, std::vector<SplitArguments>* arguments);
// The members of `group` that have passed that colour, sorted by key and then by rank.
std::vector<ProcessId> members_with_color(
    const Group& group, const std::vector<SplitArguments>& arguments, std::int64_t color);

// The arguments of this process. A new communicator takes `indices` free indices; the error is set if there are fewer.
SplitArguments own_split_arguments(const Communicator& parent, std::int64_t color, int key, std::uint32_t indices);
// The error that all members with that colour return, or MPI_SUCCESS.
int refusal_of(const std::vector<SplitArguments>& arguments, std::int64_t color) noexcept;

// The same as split(), with colours that need not fit into an int, or no_color. Collective.
int split_by_color(Communicator& parent, std::int64_t color, int key, const Info* info, Communicator** made);

} // namespace patchbay
