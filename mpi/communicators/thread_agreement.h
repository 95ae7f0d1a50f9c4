// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/cid/cid.h"
#include "object/communicator.h"

#include <array>
#include <cstdint>
#include <memory>

namespace patchbay::threads {

// What the members of a new communicator agree on before they have it: its context, and whether one of them has found
// an error. Rank 0 of the parent takes the context from the activation, so that no other communicator of the activation
// has it, in any process; where there are two groups, rank 0 of each takes one, and the higher one is used.

// The contexts of a new communicator.
struct Contexts {
    std::uint32_t own = 0;
    std::uint32_t local_comm = 0; // of an intercommunicator; that of the other group may have the same one
};

// What one member has to say, of which the maximum is the agreement: the error, and the contexts.
using Agreement = std::array<std::uint64_t, 3>;
// `refused`: the error of this member, or MPI_SUCCESS. `inter`: whether an intercommunicator is made. Called once for
// each agreement, because it takes the contexts.
Agreement part_of(const Communicator& parent, bool inter, int refused) noexcept;
// The MPI code of all members; with MPI_SUCCESS the contexts are set.
int result_of(const Agreement& agreed, Contexts* contexts) noexcept;

// Each of these blocks and returns an MPI code.
// Collective over the parent, in both groups of an intercommunicator; the new communicator is of the same kind.
int agree(Communicator& parent, int refused, Contexts* contexts) noexcept;
// Called by the members of the group. The first one takes the context.
int agree_in_group(Communicator& parent, const Group& group, int tag, std::uint32_t* context) noexcept;
// By a reduction over all members, which the caller has made; `local` has those of this group.
int agree_by(cid::GroupReduction& reduction, const Communicator& local, Agreement part, Contexts* contexts) noexcept;

// The reduction of a nonblocking agreement over the parent. Collective, because it takes the next tag of the parent.
// The parent exists until it is finished. Throws std::bad_alloc.
std::unique_ptr<cid::GroupReduction> agreement_over(Communicator& parent);

} // namespace patchbay::threads
