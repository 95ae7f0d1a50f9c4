// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/object/communicator.h"

#include <cstdint>
#include <vector>

namespace patchbay {

// The pieces of the constructors that split a communicator (mpi/instance/communicators.h).

inline constexpr std::int64_t no_color = -1;

// Who passed my colour, by key and then by rank in the parent; empty for no_color. Collective.
int members_with_color(Communicator& parent, std::int64_t color, int key, std::vector<ProcessId>* members) noexcept;

// split() with colours that do not fit an int. Collective.
int split_by_color(Communicator& parent, std::int64_t color, int key, const Info* info, Communicator** made) noexcept;

} // namespace patchbay
