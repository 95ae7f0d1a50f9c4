// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/coll/coll.h"

namespace patchbay::coll {

// Tags of the library's own messages: negative, below every constant of the standard, so that no user's receive can
// match them. Collectives need one per function: between two processes they run in the same order on both sides.
inline constexpr int first_tag = -64;
constexpr int tag_of(Function f) noexcept {
    return first_tag - int(f);
}
// For communicator constructors that talk point to point; create_group adds the user's tag below it.
inline constexpr int construction_tag = -128;

} // namespace patchbay::coll
