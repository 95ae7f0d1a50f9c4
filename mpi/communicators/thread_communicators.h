// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/communicator.h"

#include <cstdint>

namespace [[gnu::visibility("default")]] patchbay {

class Instance;
class Session;

namespace threads {

// Thread communicators: communicators whose ranks are the threads of the processes of a parent (docs/
// thread_communicators.md). All functions return MPI codes and note the cause of an error.

inline constexpr int most_threads = 1024; // of one process

// MPIX_Threadcomm_init: `threads` are those of this process, at least 1. `refused`: the error of a process that has
// found one in its arguments, which all processes return then. Collective over the parent, an intracommunicator of
// processes. The handle exists in this process only.
int init(Communicator& parent, int threads, int refused, MPI_Comm* handle);
// MPIX_Threadcomm_start, by each thread of each process. Blocks until the threads of this process have called it. After
// an error of one of them none has started.
int start(Instance& instance, MPI_Comm handle);
// MPIX_Threadcomm_finish, by each thread. Blocks until all threads of all processes have called it. After an error of
// one of them, which may mend it and call again, none has finished.
int finish(Instance& instance, MPI_Comm handle);
// MPIX_Threadcomm_free, of one that is not active. Local.
int free(Instance& instance, MPI_Comm handle);
// MPI_ERR_COMM: one of the session (nullptr: of the world model) is active.
int check_inactive(Instance& instance, const Session* session);
// Those of the session (nullptr: of the world model) are none any more, because it is finalized; after the program's
// callbacks, which may free them.
void abandon(Instance& instance, const Session* session) noexcept;
// The same after the attributes of each have been deleted, as those of the session's other communicators are. Returns
// the error of a deletion callback.
int free_all(Instance& instance, const Session& session);
// Whether there is such a thread communicator, active or not.
bool exists(Instance& instance, MPI_Comm handle) noexcept;

} // namespace threads
} // namespace patchbay
