// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/coll/threads/group.h"
#include "frameworks/coll/coll.h"
#include "object/op.h"

namespace patchbay::coll::threads {

// A reduction among the threads of one process, in steps of their group: each member shows its operand, and when all
// have, short ones, which are copied to the slots or blocks, are reduced by each member that wants the result, and of
// longer ones each member reduces its part.
// Operands are taken in rank order in all members alike, so that all have the same result to the last bit.

// What a member gives to a reduction.
struct Operand {
    const void* data;
    MPI_Count count;
    const Datatype& type;
    Op::Kernel kernel;

    std::size_t bytes() const noexcept { return std::size_t(count * type.size); }
};
// That many bytes are in the slot or block of each member. The more members there are, the more each of them would
// reduce, and the less it copies instead.
inline bool is_short(std::size_t bytes, const Place& place) noexcept {
    constexpr std::size_t most = 4 * Block::room;
    return bytes <= Slot::room || (bytes <= place.longest_copy() && bytes * std::size_t(place.size()) <= most);
}

// The loop of a reduction that this component does: of a predefined op on a type without gaps, which all members have
// in common. nullptr: the next component does it.
inline Op::Kernel kernel_of(const Op& op, const Datatype& type) noexcept {
    return type.dense ? op.kernel(type.basic) : nullptr;
}

// Whether the operation is a reduction of the next component. The same in all members.
inline bool is_passed_on(const Call& call) noexcept {
    return call.op != nullptr && kernel_of(*call.op, *call.recv_type) == nullptr;
}

// Begins a step and shows the operand, a copy of a short one; of one that is not short its address and that of the
// result.
void show_operand(Place& place, const Operand& operand, void* result, Progress& progress) noexcept;
// The rest for operands that are short: waits for all, and reduces. Called by the members that want the result only.
// Returns an MPI code: MPI_ERR_COUNT if members gave different counts, MPI_ERR_OTHER if one has failed.
int join_slots(Place& place, const Operand& operand, void* result, Progress& progress) noexcept;
// The rest for longer operands, called by all members: waits for all, and reduces this member's part to the result of
// the member at place `to`, or of `all`. MPI_SUCCESS: the step that the caller begins next is complete when all parts
// are done, and until then no buffer may change. MPI_ERR_COUNT or MPI_ERR_OTHER, in all of them: as above.
// MPI_ERR_NO_MEM, in all of them: the member at place `to` has no memory for the result.
inline constexpr int all = -1;
int join_buffers(Place& place, const Operand& operand, int to, Progress& progress) noexcept;

} // namespace patchbay::coll::threads
