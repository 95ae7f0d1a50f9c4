// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "object/session.h"

namespace [[gnu::visibility("default")]] patchbay {

class Library;

// Opens a session. The first user initializes the library; a later one only takes a lease, without a system call.
// Local, thread-safe. `thread_level`: MPI_THREAD_*, or nullopt for the highest level without an additional cost, which
// is MPI_THREAD_MULTIPLE where the library locks already, and MPI_THREAD_FUNNELED otherwise. The session's level is
// lower than the requested one where the selected components do not support it.
Result<Ref<Session>> open_session(Library& library, std::optional<int> thread_level, Ref<Errhandler> errhandler);

// Finalizes a session; the caller gives up its handle. Runs the deletion callbacks of its attributes, frees its
// remaining communicators, flushes and detaches its buffer, and sends the pending messages of this process on the
// session's communicators. May block for that. Returns an MPI code; if a deletion callback returns an error, the
// session continues to exist.
int close_session(Session& session) noexcept;

} // namespace patchbay
