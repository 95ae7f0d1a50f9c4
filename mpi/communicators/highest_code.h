// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/communicator.h"

namespace patchbay {

// Returns the error code of this process, or, if it is MPI_SUCCESS, the highest one of all members, or of those of the
// remote group: no member goes on if one of them cannot. Collective over the communicator.
int highest_code(Communicator& comm, int code) noexcept;

} // namespace patchbay
