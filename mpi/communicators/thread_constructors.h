// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/communicator.h"
#include "object/request.h"
#include "object/topology.h"

#include <array>
#include <cstdint>
#include <memory>

namespace patchbay::threads {

// The constructors of communicators.h for a parent whose ranks are threads. Each thread gets an object of its own. The
// new communicator is active as the thread communicator is from which it is derived, and is to be freed before that is
// finished. All of these block and return MPI codes.
//
// Rank 0 of the parent, or of the group, takes the context of the communicator from the activation: no other one of the
// activation has it, in any process.

int duplicate(Communicator& parent, const Info* info, Communicator** made);
// MPI_Comm_idup: *made is set when *request is complete. Does not block.
int start_duplicate(Communicator& parent, const Info* info, MPI_Comm* made, Request** request);
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

// For the constructors themselves:

// What the members of a parent agree on, as the maximum of all: the context, and the error.
using Agreement = std::array<std::uint64_t, 2>;
// The agreement as a nonblocking operation; both objects exist until its request is complete.
int begin_agreement(Communicator& parent, int refused, Agreement* mine, Agreement* agreed, Request** request) noexcept;
int result_of(const Agreement& agreed, std::uint32_t* context) noexcept;
// The duplicate before its context is known. The code is of a callback of an attribute.
int prepare_duplicate(Communicator& parent, const Info* info, Ref<Communicator>* comm);
// The rest, when it is.
int complete(Communicator& parent, Ref<Communicator> comm, std::uint32_t context, Communicator** made);

} // namespace patchbay::threads
