// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "object/session.h"

namespace [[gnu::visibility("default")]] patchbay {

class Library;

// Brings the library up for the first session, otherwise only counts. Local, thread-safe; no system call where the
// library is up. `thread_level`: MPI_THREAD_*, or nothing for the highest level that costs nothing: MPI_THREAD_MULTIPLE
// where the library locks already, MPI_THREAD_FUNNELED otherwise. The session's level may be lower than what was asked
// for where the chosen components cannot do more.
Result<Ref<Session>> open_session(Library& library, std::optional<int> thread_level, Ref<Errhandler> errhandler);

// The end of a session whose handle the caller gives up: the deletion callbacks of its attributes, then its buffer is
// flushed and its communicators that are left go as if freed, and what this process owes to peers on them is sent. May
// block for that. Returns an MPI code: that of a callback that refuses, after which the session goes on.
int close_session(Session& session) noexcept;

} // namespace patchbay
