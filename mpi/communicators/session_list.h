// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/communicator.h"

namespace patchbay {

// A session keeps a list of the communicators that are derived from it, so that MPI_Session_finalize can free them.

// Puts a communicator into the list of `comm.session`; does nothing where that is null (the world model). Thread-safe.
void enter_session(Communicator& comm) noexcept;
// Takes it out again and sets `comm.session` to null; does nothing when it is in no list. Thread-safe.
void leave_session(Communicator& comm) noexcept;

} // namespace patchbay
