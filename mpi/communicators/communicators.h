// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/cid/extended_id.h"
#include "object/communicator.h"

#include <string_view>

namespace [[gnu::visibility("default")]] patchbay {

class Instance;

// How communicators come and go (MPI-5.0, 7.4). Every function returns an MPI code and says a cause it knows itself;
// the new communicator is nullptr for a process that does not belong to one (MPI_COMM_NULL). Constructors throw
// std::bad_alloc where memory is exhausted; the bindings make an MPI error of it. "Collective": all members
// of the parent call it, in the same order.

// MPI_Comm_dup, MPI_Comm_dup_with_info: `info` may be null. Collective.
int duplicate(Communicator& parent, const Info* info, Communicator** made);
// MPI_Comm_idup and its kin: does not block; *made and *request as in ConstructionQueue::add. Collective.
int start_duplicate(Communicator& parent, const Info* info, MPI_Comm* made, Request** request);
// MPI_Comm_create: every process passes the group it will be in, or one without itself. Collective.
int create_from_subgroup(Communicator& parent, Group& group, Communicator** made);
// MPI_Comm_create_group: the members of `group` alone call it. `tag`: 0 .. MPI_TAG_UB.
int create_group(Communicator& parent, Group& group, int tag, Communicator** made);
// MPI_Comm_split: `color` >= 0, or MPI_UNDEFINED for none. Collective.
int split(Communicator& parent, int color, int key, const Info* info, Communicator** made);
// MPI_Comm_split_type: `type` is one of MPI_COMM_TYPE_*, or MPI_UNDEFINED. On an intercommunicator, too: as split()
// by the colours of the type (MPI-5.0, 7.4: it makes either kind). Collective.
int split_by_type(Communicator& parent, int type, int key, Info* info, Communicator** made);
// MPI_Comm_create_from_group: the members of `group` call it, with the same `tag`; several calls may be under way at
// one time when their tags or groups differ. `info` may be null. Errors of the new communicator go to `errhandler`.
int create_from_group(Instance& instance, Group& group, std::string_view tag, const Info* info,
    Ref<Errhandler> errhandler, Communicator** made);

// MPI_Comm_free: deletes the attributes and gives the handle's reference back; operations that are pending keep the
// communicator alive. Its attributes' callbacks may refuse: then it stays.
int free_communicator(Communicator& comm) noexcept;
// MPI_Comm_disconnect: waits for all communication first. Collective.
int disconnect(Communicator& comm);

// MPI_IDENT, MPI_CONGRUENT, MPI_SIMILAR or MPI_UNEQUAL.
int compare(const Communicator& a, const Communicator& b) noexcept;

// A predefined communicator: `index` is one of IndexTable's reserved ones, equal in all processes.
struct PredefinedCommunicator {
    std::string_view name;
    MPI_Comm handle;
    std::uint16_t index;
    cid::ExtendedId id; // after which its children are named: field `active` counts them, up to `last`
    int active;
    std::uint32_t last;
};
// Names of the world model have PGCID 0. The highest value of field 7 is MPI_COMM_SELF's own.
inline const PredefinedCommunicator predefined_world{"MPI_COMM_WORLD", MPI_COMM_WORLD, 0, {0, 0}, 7, 254};
inline const PredefinedCommunicator predefined_self{"MPI_COMM_SELF", MPI_COMM_SELF, 1, {0, 255ull << 56}, 6, 255};
int make_predefined(Instance& instance, const PredefinedCommunicator& what, Ref<Group> group, MPI_Errhandler errhandler,
    Communicator** made);
// The communicator of the bootstrap exchange: no handle, no collectives.
int make_bootstrap_communicator(Instance& instance, Ref<Group> group, Communicator** made);

// When the library goes down: destroys every communicator that is left, whoever still refers to it. No callbacks.
void destroy_all(Instance& instance) noexcept;

} // namespace patchbay
