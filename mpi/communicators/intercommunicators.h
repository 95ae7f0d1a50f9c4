// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/communicator.h"

#include <memory>
#include <string>
#include <string_view>

namespace [[gnu::visibility("default")]] patchbay {

class Construction;
class Instance;

// Intercommunicators (MPI-5.0, 7.6). Each one keeps a hidden intracommunicator of its local group (`local_comm`) for
// the library's messages within that group. As in communicators.h, every function returns an MPI code, and the new
// communicator is nullptr for a process that is in none. `problem` gets the text of an error of the user.

// MPI_Intercomm_create: all members of `local` call it, also those that have detected an error in their arguments:
// `refused` is that error, which all members return then. `leader` is a rank of `local`, or -1. `peer`, `remote_leader`
// and `tag` are significant at the leader. There `peer` is nullptr if the peer communicator, the remote leader or the
// tag is wrong; otherwise the remote group returns an error too.
int create_intercommunicator(Communicator& local, int leader, Communicator* peer, int remote_leader, int tag,
    int refused, Communicator** made, std::string* problem);
// Called by a leader whose group returns the error `code`: sends the code in the message that the other leader waits
// for, and receives that leader's message, so that a later call with the same tag does not receive it. `peer` as above;
// nullptr: the remote group cannot be notified, and waits unless its leader has detected an error too.
void refuse_intercommunicator(Communicator* peer, int remote_leader, int tag, int code);

// MPI_Intercomm_create_from_groups: the calling process is a member of `local`. `leader` and `refused` as above.
// `remote` is significant at the leader; nullptr: the handle is not valid, so that the remote group cannot be notified
// of an error. If `remote` is empty, there is no new communicator. `info` may be null.
int create_intercommunicator_from_groups(Instance& instance, Group& local, int leader, Group* remote, int refused,
    std::string_view tag, const Info* info, Ref<Errhandler> errhandler, Communicator** made, std::string* problem);

// MPI_Intercomm_merge. Collective.
int merge(Communicator& inter, bool high, Communicator** made, std::string* problem);

// The functions of communicators.h for intercommunicators. `comm` has its local group and the properties that it
// inherits.
std::unique_ptr<Construction> duplication_of_inter(Communicator& parent, Ref<Communicator> comm);
int create_from_subgroups(Communicator& parent, Group& local, Communicator** made);
// Splits an intercommunicator by colour (mpi/communicators/split.h). The result is nullptr also if one of the groups
// has no process of this colour.
int split_inter(Communicator& parent, std::int64_t color, int key, const Info* info, Communicator** made);

} // namespace patchbay
