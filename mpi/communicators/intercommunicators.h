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

// MPI_Intercomm_create: all members of `local` call it, also those that refuse their arguments: `refused` is their
// error, and all members return it then. `leader` is a rank of `local`, or -1. `peer`, `remote_leader` and `tag` count
// where local.rank is `leader`; `peer` is nullptr there when the peer communicator, the remote leader or the tag is
// what is wrong. Otherwise the other side returns the error too.
int create_intercommunicator(Communicator& local, int leader, Communicator* peer, int remote_leader, int tag,
    int refused, Communicator** made, std::string* problem);
// Tells the other side that the group of this process, which leads it, returns `code`, in the message that the other
// leader waits for. Waits for that leader's message in turn, so that a later call with the same tag does not take it
// for its own. `peer` as above; nullptr: the other side cannot be reached, and unless its leader refuses, too, it waits
// for ever.
void refuse_intercommunicator(Communicator* peer, int remote_leader, int tag, int code);

// MPI_Intercomm_create_from_groups: the calling process is a member of `local`. `leader` and `refused` as above.
// `remote` counts where its rank there is `leader`; nullptr: the handle was not valid, so that the other group is not
// known and cannot be told that this one refuses. Where it has no members there is no new communicator. `info` may be
// null.
int create_intercommunicator_from_groups(Instance& instance, Group& local, int leader, Group* remote, int refused,
    std::string_view tag, const Info* info, Ref<Errhandler> errhandler, Communicator** made, std::string* problem);

// MPI_Intercomm_merge. Collective.
int merge(Communicator& inter, bool high, Communicator** made, std::string* problem);

// The parts of communicators.h that concern intercommunicators:
// `comm` has its local group and what it inherits.
std::unique_ptr<Construction> duplication_of_inter(Communicator& parent, Ref<Communicator> comm);
int create_from_subgroups(Communicator& parent, Group& local, Communicator** made);
// By colour (mpi/communicators/split.h): those of both groups with the same one. nullptr also where one group has
// nobody.
int split_inter(Communicator& parent, std::int64_t color, int key, const Info* info, Communicator** made);

} // namespace patchbay
