// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/communicators/bridge_reduction.h"
#include "mpi/communicators/thread_contexts.h"
#include "mpi/threads/view.h"
#include "object/communicator.h"

#include <cstdint>
#include <memory>
#include <string>

namespace [[gnu::visibility("default")]] patchbay {
namespace threads {

// The constructors of intercommunicators.h where the ranks are threads, all of one activation of a thread communicator.
// As in thread_constructors.h, each thread gets an object of its own, and one more for local_comm.
//
// The groups exchange the ranks of their members in the thread communicator, which say in every process where a member
// is; so nothing is looked up at the launcher or elsewhere.

// Whether the ranks of both are threads of one activation, so that there can be an intercommunicator of them.
bool are_of_one_activation(const Communicator& a, const Communicator& b) noexcept;

// MPI_Intercomm_create, after the arguments have been compared (compare_arguments). No other operation uses `tag` on
// `local`. The peer communicator is of the same activation.
int create_intercommunicator(
    Communicator& local, int leader, const Bridge& bridge, int tag, Communicator** made, std::string* problem);
// MPI_Intercomm_merge, after the order of the two groups is known. `comm` has its group and what it inherits.
int merge(Communicator& inter, Ref<Communicator> comm, bool local_is_lower, Communicator** made);
// MPI_Comm_create and MPI_Comm_split of an intercommunicator.
int create_from_subgroups(Communicator& parent, Group& local, Communicator** made);
int split_inter(Communicator& parent, std::int64_t color, int key, const Info* info, Communicator** made);

// For the constructors themselves: `comm` has its groups. `local`: an intracommunicator that has all members of the
// local group. `remote`: where the members of the remote group are.
int construct_inter(Communicator& local, Ref<Communicator> comm, std::shared_ptr<const Members> remote,
    const Contexts& contexts, Communicator** made);

} // namespace threads
} // namespace patchbay
