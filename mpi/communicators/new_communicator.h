// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/bootstrap/message.h"
#include "mpi/communicators/construction.h"

#include <optional>
#include <string_view>

namespace patchbay {

// What the constructors of communicators (communicators.h, intercommunicators.h) have in common.

// A communicator of these members; what does not follow from them it has from its parent.
Ref<Communicator> child_of(Communicator& parent, Ref<Group> group, const Info* info);

// One without a parent.
Ref<Communicator> without_parent(Instance& instance, Ref<Group> group, const Info* info, Ref<Errhandler> errhandler);

// Waits for the construction. Returns an MPI code; *made is nullptr unless that is MPI_SUCCESS.
int finish(Construction& construction, Communicator** made) noexcept;

// A communicator without a parent: all of `members` call it and meet in the bootstrap exchange about `tag`. `kind`:
// what for, of at most `longest_kind` characters; empty for users' own calls, so that no tag of theirs leads to any
// other. `refused`, where it is given, is an MPI code: when any member gives an error there, all of them return it, and
// that costs one more reduction.
int build_over_bootstrap(Ref<Communicator> comm, Ref<Group> members, std::string_view tag, std::string_view kind,
    std::optional<int> refused, Communicator** made);

} // namespace patchbay
