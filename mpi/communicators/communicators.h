// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/cid/extended_id.h"
#include "object/communicator.h"

#include <string_view>

namespace [[gnu::visibility("default")]] patchbay {

class Instance;

// Construction and destruction of communicators (MPI-5.0, 7.4). Every function returns an MPI code, and stores the
// cause of an error that it detects itself (object/error_cause.h). The new communicator is nullptr (MPI_COMM_NULL) for
// a process that is in none. Constructors throw std::bad_alloc if memory is exhausted; the bindings convert that to an
// MPI error. "Collective" means that all members of the parent call the function, in the same order.

// MPI_Comm_dup, MPI_Comm_dup_with_info: `info` may be null. Collective.
int duplicate(Communicator& parent, const Info* info, Communicator** made);
// A duplicate for the library's own messages: without the attributes and the topology of the parent, which is an
// intracommunicator. Its reference is the caller's. Collective.
int duplicate_for_library(Communicator& parent, Communicator** made);
// MPI_Comm_idup, MPI_Comm_idup_with_info: does not block; *made and *request as in ConstructionQueue::add. Collective.
int start_duplicate(Communicator& parent, const Info* info, MPI_Comm* made, Request** request);
// MPI_Comm_create: every process passes the group that it will be in, or one without itself. Collective.
int create_from_subgroup(Communicator& parent, Group& group, Communicator** made);
// The same for the constructors of topologies, on an intracommunicator. `topology` and `info` may be null. A member of
// the parent that has an error already passes it as `refused`, with any group; then all of them return an error.
int create_with_topology(Communicator& parent, Group& group, std::shared_ptr<const Topology> topology, const Info* info,
    int refused, Communicator** made);
// MPI_Comm_create_group: only the members of `group` call it. `tag`: 0 .. MPI_TAG_UB.
int create_group(Communicator& parent, Group& group, int tag, Communicator** made);
// MPI_Comm_split: `color` >= 0, or MPI_UNDEFINED for no new communicator. Collective.
int split(Communicator& parent, int color, int key, const Info* info, Communicator** made);
// MPI_Comm_split_type: `type` is one of MPI_COMM_TYPE_*, or MPI_UNDEFINED. The parent may be an intercommunicator
// (MPI-5.0, 7.4); then this is split() with the colours that follow from the type. Collective.
int split_by_type(Communicator& parent, int type, int key, Info* info, Communicator** made);
// MPI_Comm_create_from_group: the members of `group` call it with the same `tag`. Several calls may be under way at one
// time if their tags or groups differ. `info` may be null. `errhandler` is the error handler of the new communicator.
int create_from_group(Instance& instance, Group& group, std::string_view tag, const Info* info,
    Ref<Errhandler> errhandler, Communicator** made);

// MPI_Comm_free: deletes the attributes and releases the reference of the handle. Pending operations hold references of
// their own. If a deletion callback returns an error, the communicator is not freed.
int free_communicator(Communicator& comm) noexcept;
// The number of operations on the communicator that have not ended. Each holds a reference, and so does a request that
// the program has not completed yet although its operation has ended, or a persistent one that is not started; the last
// reference is that of the handle.
std::int32_t pending_operations(const Communicator& comm) noexcept;
// What MPI_Comm_disconnect waits for: there are none. Looks at those that only a completing call would look at.
bool has_no_communication(const Communicator& comm) noexcept;
// MPI_Comm_disconnect: waits until all communication is complete, and frees the communicator. Collective.
int disconnect(Communicator& comm);

// MPI_IDENT, MPI_CONGRUENT, MPI_SIMILAR or MPI_UNEQUAL.
int compare(const Communicator& a, const Communicator& b) noexcept;

// A predefined communicator. `index` is a reserved one of IndexTable, and the same in all processes.
struct PredefinedCommunicator {
    std::string_view name;
    MPI_Comm handle;
    std::uint16_t index;
    cid::ExtendedId id; // from which those of its children are derived: field `active` counts them, up to `last`
    int active;
    std::uint32_t last;
};
// The exCIDs of the world model have PGCID 0. The highest value of field 7 is that of MPI_COMM_SELF.
inline const PredefinedCommunicator predefined_world{"MPI_COMM_WORLD", MPI_COMM_WORLD, 0, {0, 0}, 7, 254};
inline const PredefinedCommunicator predefined_self{"MPI_COMM_SELF", MPI_COMM_SELF, 1, {0, 255ull << 56}, 6, 255};
int make_predefined(Instance& instance, const PredefinedCommunicator& what, Ref<Group> group, MPI_Errhandler errhandler,
    Communicator** made);
// The communicator of the bootstrap exchange: no handle, no collectives.
int make_bootstrap_communicator(Instance& instance, Ref<Group> group, Communicator** made);

// Destroys all communicators when the instance is destroyed, without regard to references. No callbacks run.
void destroy_all(Instance& instance) noexcept;

} // namespace patchbay
