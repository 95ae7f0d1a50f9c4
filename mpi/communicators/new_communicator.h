// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/bootstrap/message.h"
#include "mpi/communicators/construction.h"

#include <cstdint>
#include <string_view>

namespace patchbay {

// Functions that all constructors use (communicators.h, intercommunicators.h).

// Creates a communicator with this group, which inherits all other properties from its parent.
Ref<Communicator> child_of(Communicator& parent, Ref<Group> group, const Info* info);

// Creates a communicator without a parent.
Ref<Communicator> without_parent(Instance& instance, Ref<Group> group, const Info* info, Ref<Errhandler> errhandler);

// Calls the deletion callbacks of the attributes that have been copied to a communicator which the program does not
// get, because its construction has failed. Calls the program: no lock may be held.
void delete_copied_attributes(Communicator& comm);

// Waits until the construction is finished. Returns an MPI code; *made is nullptr unless the code is MPI_SUCCESS.
int finish(Construction& construction, Communicator** made) noexcept;

// The key of the next reduction in the bootstrap exchange for which all of `members` pass the same `tag` and `kind`.
// `kind` is the kind of operation, of at most `longest_kind` characters; it is empty for MPI_Comm_create_from_group, so
// that the keys of users' string tags differ from all others. `least` as in SequenceCounters.
OperationKey next_operation_key(
    Instance& instance, const Group& members, std::string_view tag, std::string_view kind, std::uint32_t least = 0);

// Constructs a communicator without a parent by a reduction in the bootstrap exchange. All of `members` call it with
// the same `tag` and `kind`.
int build_over_bootstrap(
    Ref<Communicator> comm, Ref<Group> members, std::string_view tag, std::string_view kind, Communicator** made);

} // namespace patchbay
