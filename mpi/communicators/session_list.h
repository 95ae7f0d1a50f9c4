// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/communicator.h"

namespace patchbay {

// The list of the communicators that are derived from a session, which MPI_Session_finalize frees; the local_comm of an
// intercommunicator (Communicator::is_local_side) with that.

// Adds a communicator to the list of `comm.session`; does nothing if that is null (the world model). Thread-safe.
void add_to_session(Communicator& comm) noexcept;
// Removes a communicator from its list, and sets `comm.session` to null; does nothing if it is in no list. Thread-safe.
void remove_from_session(Communicator& comm) noexcept;

} // namespace patchbay
