// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/coll/coll.h"

namespace patchbay::coll::inter {

// Collectives between the two groups of an intercommunicator (MPI-5.0, 6.2.2 and 6.2.3). What each process has for each
// other one goes directly; what the processes of one side have in common is combined or spread within the side, by the
// collectives of its hidden intracommunicator, and crosses once, between the two leaders.
class InterModule final : public Module {
public:
    Provided provides() const noexcept override {
        return Provided::planned(FunctionSet::chapter_6() - FunctionSet{Function::scan, Function::exscan});
    }
    int plan(const Call& call, Schedule& schedule) noexcept override;
    int blocking(const Call& call, Communicator& comm) noexcept override;
};

// In either group.
inline constexpr int leader = 0;

// The steps of one member, as a plan (Schedule) or at once (Immediate).
template <class Steps>
void direct(Steps& steps, const Call& call) noexcept; // gather, scatter, allgather, alltoall and their variants
template <class Steps>
void bridged(Steps& steps, const Call& call) noexcept; // barrier, bcast and the reductions

} // namespace patchbay::coll::inter
