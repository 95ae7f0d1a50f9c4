// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/coll/tags.h"
#include "frameworks/pml/partitioned_tags.h"
#include "frameworks/pml/pml.h"

#include <cstdint>

namespace patchbay {

// Tags of the group reductions of constructors on the parent. They are different from the tags of the collectives
// (frameworks/coll/tags.h), and different for all constructors that can be under way at one time on one parent.

// The tag of the n-th of the constructors that all members of the parent call in the same order.
inline constexpr int construction_tag(std::uint32_t sequence) noexcept {
    return -(1 << 16) - int(sequence % (1u << 16));
}

inline int next_construction_tag(Communicator& parent) noexcept {
    return construction_tag(parent.constructions.fetch_add(1, std::memory_order_relaxed));
}

// The tag of MPI_Comm_create_group. Only some members call it; several calls at one time have different user tags.
inline constexpr int group_construction_tag(int user_tag) noexcept {
    return -(1 << 18) - user_tag;
}

// The tag of the messages between the leaders of MPI_Intercomm_create, on the peer communicator.
inline constexpr int bridge_tag(int user_tag) noexcept {
    return group_construction_tag(pml::highest_tag) - 1 - user_tag;
}
static_assert(construction_tag(0) < coll::tag_of(coll::Function::count));
static_assert(construction_tag((1u << 16) - 1) > coll::first_nonblocking_tag);
static_assert(group_construction_tag(0) < coll::lowest_tag);
static_assert(bridge_tag(pml::highest_tag) > pml::partitioned_setup_tag(0));

} // namespace patchbay
