// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/coll/neighborhood.h"

#include "components/coll/basic/basic.h"
#include "frameworks/coll/immediate.h"
#include "frameworks/coll/schedule.h"

namespace patchbay::coll::basic {

namespace {

// How many receives a batch keeps under way without waiting for one of them.
constexpr std::size_t most_receives = 64;

} // namespace

// All receives are started before the first send waits: sends are only completed by receives, and a graph may be such
// that the processes would wait for each other if a receive waited for another one.
void BasicModule::plan_neighborhood(const Call& call, Schedule& schedule) const noexcept {
    const Communicator& comm = schedule.comm();
    Schedule::Batch sends(schedule);
    for_each_neighbor(
        *comm.topology, comm.rank, call,
        [&](const NeighborBlock& block, int source) { schedule.recv(block.address, block.count, *block.type, source); },
        [&](const NeighborBlock& block, int dest) { sends.isend(block.address, block.count, *block.type, dest); });
    for_each_own_edge(*comm.topology, comm.rank, call, [&](const NeighborBlock& from, const NeighborBlock& into) {
        schedule.copy(from.address, from.count, *from.type, into.address, into.count, *into.type);
    });
}

// The blocking form of the neighbourhood functions. A process with many sources runs the plan.
int BasicModule::blocking(const Call& call, Communicator& comm) noexcept {
    if (!FunctionSet::neighborhood().has(call.function) || comm.topology->sources().size() > most_receives) {
        return Module::blocking(call, comm);
    }
    Immediate steps(comm, call.function);
    Immediate::Batch receives(steps);
    Immediate::Batch sends(steps);
    for_each_neighbor(
        *comm.topology, comm.rank, call,
        [&](const NeighborBlock& block, int source) {
            receives.irecv(block.address, block.count, *block.type, source);
        },
        [&](const NeighborBlock& block, int dest) { sends.isend(block.address, block.count, *block.type, dest); });
    for_each_own_edge(*comm.topology, comm.rank, call, [&](const NeighborBlock& from, const NeighborBlock& into) {
        steps.copy(from.address, from.count, *from.type, into.address, into.count, *into.type);
    });
    sends.finish();
    receives.finish();
    return steps.code();
}

} // namespace patchbay::coll::basic
