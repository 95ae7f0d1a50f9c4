// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/pml/pml.h"

#include <cstdint>

namespace patchbay::pml {

// Tags of partitioned communication, in two ranges below those of constructors
// (mpi/communicators/construction_tags.h).

// The tag of the setup message, with which a send is matched with a receive. The messages of one tag are matched in the
// order in which they are sent and received, which is the order that MPI-5.0, 4.2.1 requires of MPI_Psend_init and
// MPI_Precv_init.
constexpr int partitioned_setup_tag(int user_tag) noexcept {
    return -(1 << 18) - 2 * (highest_tag + 1) - user_tag;
}

// The tags of all other messages. The receiving process takes them (PartitionedEngine::take_tags) and tells the other
// one, so that no two requests of it have the same.
inline constexpr int partitioned_tags = highest_tag + 1;
constexpr int partitioned_tag(int number) noexcept {
    return partitioned_setup_tag(highest_tag) - 1 - number;
}
static_assert(std::int64_t(partitioned_setup_tag(highest_tag)) - partitioned_tags >= INT32_MIN);

} // namespace patchbay::pml
