// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/communicators/thread_contexts.h"
#include "mpi/threads/view.h"
#include "object/communicator.h"
#include "object/request.h"
#include "object/topology.h"

#include <cstdint>
#include <memory>

namespace patchbay::threads {

// The constructors of communicators.h for a parent whose ranks are threads; for those with two groups see
// thread_intercommunicators.h. Each thread gets an object of its own. The new communicator is active as the thread
// communicator is from which it is derived, and is to be freed before that is finished. All of these block and return
// MPI codes.

// The parent may be an intercommunicator.
int duplicate(Communicator& parent, const Info* info, Communicator** made);
// MPI_Comm_idup: *made is set when *request is complete. Does not block. The parent may be an intercommunicator.
int start_duplicate(Communicator& parent, const Info* info, MPI_Comm* made, Request** request);
// `group`: of the calling thread, without it where it gets no communicator. A `refused` of any member is the result of
// all. `topology` and `info` may be null. Collective over the parent.
int create(Communicator& parent, Ref<Group> group, std::shared_ptr<const Topology> topology, const Info* info,
    int refused, Communicator** made);
// Called by the members of the group.
int create_group(Communicator& parent, Group& group, int tag, Communicator** made);
int split(Communicator& parent, std::int64_t color, int key, const Info* info, Communicator** made);
// Of an intercommunicator, too.
int disconnect(Communicator& comm);

// Ends the construction of a communicator that has its groups, its view and its Progress: adds it to its engine and
// selects its collectives. After an error the communicator is to be destroyed.
int open(Communicator& comm);

// For the constructors themselves:

// Where the members of `some` are, of which each is in `all`, whose members are at `places`.
std::shared_ptr<const Members> places_of(
    const Group& some, const Group& all, const std::shared_ptr<const Members>& places);
// Makes the view of a communicator that has its groups, and opens it. `parent`: any communicator of the thread in the
// same activation. `members`: those that messages go to, which are those of the remote group of an intercommunicator.
int construct(Communicator& parent, Ref<Communicator> comm, std::uint32_t context,
    std::shared_ptr<const Members> members, Communicator** made);
// The duplicate before its context is known. The code is of a callback of an attribute.
int prepare_duplicate(Communicator& parent, const Info* info, Ref<Communicator>* comm);
// The rest, when it is.
int complete_duplicate(Communicator& parent, Ref<Communicator> comm, const Contexts& contexts, Communicator** made);

} // namespace patchbay::threads
