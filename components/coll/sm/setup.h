// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/coll/sm/place.h"
#include "frameworks/context.h"

#include <memory>

namespace patchbay::coll::sm {

// Called by all members of a communicator in the same blocking collective: rank 0 takes memory of the node, the others
// map it, and all agree that each of them has. They exchange messages by the component with the next lower priority.
// Returns a place in all members, or nullptr in all of them: the reason is in the decision log.
std::unique_ptr<Place> make_place(Context& context, const Below& below, Communicator& comm) noexcept;

} // namespace patchbay::coll::sm
