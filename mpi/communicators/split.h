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
    std::int64_t key;
};
static_assert(sizeof(Vote) == 2 * sizeof(std::int64_t));

// Everybody's votes, by rank. Collective.
int gather_votes(Communicator& parent, Vote mine, std::vector<Vote>* votes);
// Who in `group` voted for that colour, by key and then by rank.
std::vector<ProcessId> members_with_color(const Group& group, const std::vector<Vote>& votes, std::int64_t color);

// split() with colours that do not fit an int, or no_color. Collective.
int split_by_color(Communicator& parent, std::int64_t color, int key, const Info* info, Communicator** made);

} // namespace patchbay
