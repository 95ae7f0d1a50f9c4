// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/communicator.h"

#include <memory>
#include <string>
#include <string_view>

namespace [[gnu::visibility("default")]] patchbay {

class Construction;
class Instance;

// Communicators of two groups (MPI-5.0, 7.6). Each keeps a hidden intracommunicator of its local group (`local_comm`)
// for what the library says within one side. As in communicators.h every function returns an MPI code, and the new
// communicator is nullptr for a process that belongs to none. `problem` gets the text of an error that is the caller's.

// MPI_Intercomm_create: all members of `local` call it. `peer`, `remote_leader` and `tag` count where local.rank is
// `leader`.
int create_intercommunicator(Communicator& local, int leader, Communicator* peer, int remote_leader, int tag,
    Communicator** made, std::string* problem) noexcept;
// Instead of it, by a leader that refuses its arguments: the other members of `local` return `code` too (if `local` is
// an intercommunicator, they know as much themselves and do not come), and so do all of the other side, whose leader is
// told in the message that it waits for. Waits for that leader's message in turn, so that a later call with the same
// tag does not take it for its own. `peer` is nullptr where the peer communicator, the remote leader or the tag is what
// is wrong: then the other side cannot be reached, and unless its leader refuses, too, it waits for ever.
void refuse_intercommunicator(Communicator& local, Communicator* peer, int remote_leader, int tag, int code) noexcept;

// MPI_Intercomm_create_from_groups: the calling process is a member of `local`. `remote` counts where its rank there is
// `leader`; nullptr there makes all members of `local` return MPI_ERR_GROUP, and where it has no members there is no
// new communicator. `info` may be null.
int create_intercommunicator_from_groups(Instance& instance, Group& local, int leader, Group* remote,
    std::string_view tag, const Info* info, Ref<Errhandler> errhandler, Communicator** made,
    std::string* problem) noexcept;

// MPI_Intercomm_merge. Collective.
int merge(Communicator& inter, bool high, Communicator** made, std::string* problem) noexcept;

// The parts of communicators.h that concern intercommunicators:
// `comm` has its local group and what it inherits.
std::unique_ptr<Construction> duplication_of_inter(Communicator& parent, Ref<Communicator> comm);
int create_from_subgroups(Communicator& parent, Group& local, Communicator** made) noexcept;
// By colour (mpi/communicators/split.h): those of both groups with the same one. nullptr also where one group has
// nobody.
int split_inter(Communicator& parent, std::int64_t color, int key, const Info* info, Communicator** made) noexcept;

} // namespace patchbay
