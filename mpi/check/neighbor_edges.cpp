// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/check/neighbor_edges.h"

#include "frameworks/coll/neighborhood.h"
#include "object/communicator.h"

#include <map>
#include <utility>

namespace patchbay::check {

namespace {

Edge edge(int peer, const coll::NeighborBlock& block) {
    return {peer, Block(Signature::of(*block.type, block.count))};
}

} // namespace

Edges edges_of(const coll::Call& call, const Communicator& comm) {
    const Topology& topology = *comm.topology;
    const auto destinations = topology.destinations();
    const auto sources = topology.sources();
    Edges edges;
    if (destinations.size() + sources.size() > most_edges(comm.size)) {
        return edges;
    }
    for (std::size_t i = 0; i < destinations.size(); ++i) {
        if (destinations[i] != MPI_PROC_NULL) {
            edges.sent.push_back(edge(destinations[i], coll::sent_block(call, i)));
        }
    }
    for (std::size_t i = 0; i < sources.size(); ++i) {
        const std::size_t place = topology.receive(i);
        if (sources[place] != MPI_PROC_NULL) {
            edges.received.push_back(edge(sources[place], coll::received_block(call, place)));
        }
    }
    return edges;
}

std::optional<EdgeDifference> compare_edges(const std::vector<Edges>& all) {
    // {sender, receiver} -> what the receiver expects, in order.
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Block>> expected;
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        for (const Edge& one : all[rank].received) {
            expected[{one.peer, std::int64_t(rank)}].push_back(one.block);
        }
    }
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        std::map<std::int64_t, std::size_t> next; // by receiver
        for (const Edge& one : all[rank].sent) {
            const auto found = expected.find({std::int64_t(rank), one.peer});
            const std::size_t number = next[one.peer]++;
            if (found != expected.end() && number < found->second.size() && !found->second[number].matches(one.block)) {
                return EdgeDifference{int(rank), int(one.peer), one.block, found->second[number]};
            }
        }
    }
    return std::nullopt;
}

} // namespace patchbay::check
