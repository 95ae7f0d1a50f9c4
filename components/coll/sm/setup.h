// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/coll/sm/place.h"
#include "frameworks/context.h"

#include <memory>

namespace patchbay::coll::sm {

// Called by all members of a communicator in the same blocking collective, or in the initialization of the same
// persistent one: rank 0 takes memory of the node, the others
// map it, and all agree that each of them has. They exchange messages by the component with the next lower priority.
// `takes_part`: whether this member would use it; otherwise none gets it. Returns a place in all members, or nullptr in
// all of them: where all would use it, the reason is in the decision log.
std::unique_ptr<Place> make_place(
    Context& context, const Below& below, Communicator& comm, bool takes_part = true) noexcept;

} // namespace patchbay::coll::sm
