// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/cid/cid.h"
#include "object/communicator.h"

#include <array>
#include <cstdint>
#include <memory>

namespace patchbay::threads {

// The context of a new communicator of threads, which its members get by a reduction together with the error of any of
// them. Rank 0 of the parent takes the context from the activation, so that no other communicator of the activation has
// it, in any process; where there are two groups, rank 0 of each takes one, and the higher one is used.

// The contexts of a new communicator.
struct Contexts {
    std::uint32_t own = 0;
    std::uint32_t local_comm = 0; // of an intercommunicator; that of the other group may have the same one
};

// What is reduced, with the maximum: the error, and the two contexts.
using ContextWords = std::array<std::uint64_t, 3>;
// `refused`: the error of this member, or MPI_SUCCESS. `inter`: whether an intercommunicator is made. Called once for
// each reduction, because it takes the contexts.
ContextWords contribution_of(const Communicator& parent, bool inter, int refused) noexcept;
// The MPI code of all members; with MPI_SUCCESS the contexts are set.
int result_of(const ContextWords& reduced, Contexts* contexts) noexcept;

// Each of these blocks and returns an MPI code.
// Collective over the parent, in both groups of an intercommunicator; the new communicator is of the same kind.
int reduce_contexts(Communicator& parent, int refused, Contexts* contexts) noexcept;
// Over all members by a reduction that the caller has made; `local` has those of this group.
int reduce_contexts_by(
    cid::GroupReduction& reduction, const Communicator& local, ContextWords contribution, Contexts* contexts) noexcept;
// Called by the members of the group: the first one takes the context and sends it to the others.
int share_context(Communicator& parent, const Group& group, int tag, std::uint32_t* context) noexcept;

// What a nonblocking constructor starts with its contribution. Collective, because it takes the next tag of the parent.
// The parent exists until it is finished. Throws std::bad_alloc.
std::unique_ptr<cid::GroupReduction> context_reduction(Communicator& parent);

} // namespace patchbay::threads
