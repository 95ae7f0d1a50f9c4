// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/communicator.h"
#include "object/topology.h"

#include <cstdint>
#include <memory>

namespace patchbay::threads {

// The constructors of communicators.h for a parent whose ranks are threads. Each thread gets an object of its own. The
// new communicator is active as the thread communicator is from which it is derived, and is to be freed before that is
// finished. All of these block and return MPI codes.
//
// The members agree on the context of the communicator: the highest one that any of them would use next. Two
// communicators with a thread in common have different contexts therefore; others may have the same.

int duplicate(Communicator& parent, const Info* info, Communicator** made);
// `group`: of the calling thread, without it where it gets no communicator. A `refused` of any member is the result of
// all. `topology` and `info` may be null. Collective over the parent.
int create(Communicator& parent, Ref<Group> group, std::shared_ptr<const Topology> topology, const Info* info,
    int refused, Communicator** made);
// Called by the members of the group.
int create_group(Communicator& parent, Group& group, int tag, Communicator** made);
int split(Communicator& parent, std::int64_t color, int key, const Info* info, Communicator** made);
int disconnect(Communicator& comm);

// Ends the construction of a communicator that has its groups, its view and its Progress: adds it to its engine and
// selects its collectives. After an error the communicator is to be destroyed.
int open(Communicator& comm);

} // namespace patchbay::threads
