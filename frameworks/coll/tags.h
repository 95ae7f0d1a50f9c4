// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/coll/call.h"

#include <cstdint>

namespace patchbay::coll {

// Tags of the library's own messages: negative, below every constant of the standard, so that no user's receive can
// match them. Those of constructors are in mpi/communicators/construction_tags.h, in ranges beside these.

// Blocking collectives need one tag per function: between two processes they run in the same order on both sides.
inline constexpr int first_tag = -64;
constexpr int tag_of(Function f) noexcept {
    return first_tag - int(f);
}

// The messages by which the checking mode compares the calls of all members (mpi/check), in the order of the calls.
inline constexpr int call_check_tag = -1024;
static_assert(call_check_tag < first_tag - int(Function::count));

// Each nonblocking operation has the next tag of its communicator, and keeps it until it is complete; each persistent
// one has a tag of its own until it is freed (outstanding.h).
inline constexpr std::uint32_t sequence_tags = 1u << 14;
inline constexpr int first_nonblocking_tag = -(1 << 17);
inline constexpr int first_persistent_tag = first_nonblocking_tag - int(sequence_tags);

constexpr int nonblocking_tag(std::uint32_t sequence) noexcept {
    return first_nonblocking_tag - int(sequence % sequence_tags);
}
constexpr int persistent_tag(std::uint32_t slot) noexcept {
    return first_persistent_tag - int(slot);
}

inline constexpr int lowest_tag = first_persistent_tag - int(sequence_tags) + 1;

} // namespace patchbay::coll
