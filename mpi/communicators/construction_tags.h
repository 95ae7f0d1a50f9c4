// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/pml/pml.h"

#include <cstdint>

namespace patchbay {

// Tags by which the members of a communicator to be agree, over its parent: below those of the collectives
// (frameworks/coll/tags.h), and different for all constructors that can be under way at one time from one parent.

// Constructors that all members of the parent call, in the same order: the n-th of them.
inline constexpr int construction_tag(std::uint32_t sequence) noexcept {
    return -(1 << 16) - int(sequence % (1u << 16));
}

inline int next_construction_tag(Communicator& parent) noexcept {
    return construction_tag(parent.constructions.fetch_add(1, std::memory_order_relaxed));
}

// MPI_Comm_create_group: only some members call it, several of them may do so at one time, with tags of their own.
inline constexpr int group_construction_tag(int user_tag) noexcept {
    return -(1 << 18) - user_tag;
}

// MPI_Intercomm_create: the two leaders over the peer communicator, with the user's tag.
inline constexpr int bridge_tag(int user_tag) noexcept {
    return group_construction_tag(pml::highest_tag) - 1 - user_tag;
}
// Neither overflows.
static_assert(-std::int64_t(1 << 18) - 2 * std::int64_t(pml::highest_tag) - 1 >= INT32_MIN);

} // namespace patchbay
