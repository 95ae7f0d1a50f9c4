// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "object/session.h"

namespace [[gnu::visibility("default")]] patchbay {

class Library;

// Brings the library up for the first session, otherwise only counts. Local, thread-safe; no system call where the
// library is up. `thread_level`: MPI_THREAD_*; the session's may be lower where the chosen components cannot do more.
Result<Ref<Session>> open_session(Library& library, int thread_level, Ref<Errhandler> errhandler);

// Finalizes a session; the caller gives up its handle. Runs the deletion callbacks of its attributes, frees its
// remaining communicators, flushes and detaches its buffer, and sends the pending messages of this process on the
// session's communicators. May block for that. Returns an MPI code; if a deletion callback returns an error, the
// session continues to exist.
int close_session(Session& session) noexcept;

} // namespace patchbay
