// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/check/message.h"

#include <vector>

namespace patchbay::check {

// The buffers of this member in a collective: what it sends, and where it receives. `function`: the name of the call, a
// text that is never destroyed. May throw std::bad_alloc.
std::vector<MessageCall> buffers_of(const coll::Call& call, const char* function, Communicator& comm);

} // namespace patchbay::check
