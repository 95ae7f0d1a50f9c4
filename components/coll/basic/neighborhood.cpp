// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/coll/neighborhood.h"

#include "components/coll/basic/basic.h"
#include "frameworks/coll/immediate.h"
#include "frameworks/coll/schedule.h"

namespace patchbay::coll::basic {

namespace {

// How many messages a batch keeps under way without waiting for one of them.
constexpr std::size_t most_messages = 64;

bool has_many_neighbors(const Topology& topology) noexcept {
    return topology.sources().size() > most_messages || topology.destinations().size() > most_messages;
}

// The steps of both forms, where receive(block, source) has a message received.
template <class Steps, class Receive>
void neighborhood_steps(const Communicator& comm, const Call& call, Steps& steps, typename Steps::Batch& sends,
    const Receive& receive) noexcept {
    for_each_neighbor(
        *comm.topology, comm.rank, call,
        [&](const NeighborBlock& block, int dest) { sends.isend(block.address, block.count, *block.type, dest); },
        receive);
    for_each_own_edge(*comm.topology, comm.rank, call, [&](const NeighborBlock& from, const NeighborBlock& into) {
        steps.copy(from.address, from.count, *from.type, into.address, into.count, *into.type);
    });
}

} // namespace

// A limited number of sends is under way, but all receives: they complete the sends of others, and a graph may be such
// that processes would wait for each other for ever if a receive waited for another one.
void BasicModule::plan_neighborhood(const Call& call, Schedule& schedule) const noexcept {
    Schedule::Batch sends(schedule);
    neighborhood_steps(schedule.comm(), call, schedule, sends, [&](const NeighborBlock& block, int source) {
        schedule.recv(block.address, block.count, *block.type, source);
    });
}

// The blocking form of the neighbourhood functions. A process with many neighbours runs the plan, so that no message
// waits for another one here.
int BasicModule::blocking(const Call& call, Communicator& comm) noexcept {
    if (!FunctionSet::neighborhood().has(call.function) || has_many_neighbors(*comm.topology)) {
        return Module::blocking(call, comm);
    }
    Immediate steps(comm, call.function);
    Immediate::Batch sends(steps);
    Immediate::Batch receives(steps);
    neighborhood_steps(comm, call, steps, sends, [&](const NeighborBlock& block, int source) {
        receives.irecv(block.address, block.count, *block.type, source);
    });
    receives.finish();
    sends.finish();
    return steps.code();
}

} // namespace patchbay::coll::basic
