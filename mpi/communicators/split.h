// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/communicator.h"

#include <cstdint>
#include <vector>

namespace patchbay {

// The pieces of the constructors that split a communicator (mpi/communicators/communicators.h).

inline constexpr std::int64_t no_color = -1;

// What one process wants, as it travels.
struct Vote {
    std::int64_t color;
    std::int32_t key;
    std::int32_t refused; // why it can be in no new communicator, or MPI_SUCCESS
};
static_assert(sizeof(Vote) == 2 * sizeof(std::int64_t));

// Everybody's votes, by rank. Collective.
int gather_votes(Communicator& parent, Vote mine, std::vector<Vote>* votes);
// Who in `group` voted for that colour, by key and then by rank.
std::vector<ProcessId> members_with_color(const Group& group, const std::vector<Vote>& votes, std::int64_t color);

// The vote of this process. A new communicator takes so many of its `indices`.
Vote vote(const Communicator& parent, std::int64_t color, int key, std::uint32_t indices);
// Why those of that colour get no communicator, or MPI_SUCCESS: all of them return the same error.
int refusal_of(const std::vector<Vote>& votes, std::int64_t color) noexcept;

// split() with colours that do not fit an int, or no_color. Collective.
int split_by_color(Communicator& parent, std::int64_t color, int key, const Info* info, Communicator** made);

} // namespace patchbay
