// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/topologies/topologies.h"

#include "core/base/out_of_memory.h"
#include "mpi/communicators/communicators.h"
#include "mpi/topologies/edge_exchange.h"
#include "mpi/topologies/hosts.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>

namespace patchbay {

namespace {

using TopologyRef = std::shared_ptr<const Topology>;

// The group of a topology: the processes `hosts`, or, if that is empty, the first `ranks` members of the parent.
Ref<Group> group_of(const Communicator& parent, int ranks, const std::vector<int>& hosts) {
    if (!hosts.empty()) {
        return parent.group->include(hosts);
    }
    if (ranks == parent.size) {
        return parent.group;
    }
    std::vector<int> first(std::size_t(ranks), 0);
    std::iota(first.begin(), first.end(), 0);
    return parent.group->include(first);
}

// Ends a constructor: `code` is the error of this process until now. `make` returns the topology, given the rank of the
// calling process.
int construct(Communicator& parent, int ranks, const std::vector<int>& hosts, int code,
    const std::function<TopologyRef(int rank)>& make, Communicator** made, const Info* info = nullptr) {
    Ref<Group> group = parent.group;
    TopologyRef topology;
    if (code == MPI_SUCCESS) {
        code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
            group = group_of(parent, ranks, hosts);
            topology = group->rank() != MPI_UNDEFINED ? make(group->rank()) : nullptr;
            return MPI_SUCCESS;
        });
    }
    return create_with_topology(parent, *group, std::move(topology), info, code, made);
}

EdgeCollector edges_in_decider(const Communicator& parent, std::function<std::vector<Edge>()> edges) {
    return [&parent, edges = std::move(edges)](std::vector<Edge>* all) {
        return unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
            if (parent.rank == 0) {
                *all = edges();
            }
            return MPI_SUCCESS;
        });
    };
}

int hosts_of_grid(Communicator& parent, const Grid& grid, std::vector<int>* hosts) {
    return find_hosts(parent, grid.size(), &grid, edges_in_decider(parent, [&grid] { return edges_of(grid); }), hosts);
}

int hosts_of_graph(Communicator& parent, const Graph& graph, std::vector<int>* hosts) {
    const auto edges = [&graph] {
        std::vector<Edge> all;
        for (int rank = 0; rank < int(graph.index.size()); ++rank) {
            for (const int neighbor : graph.neighbors(rank)) {
                all.push_back({rank, neighbor, 1});
            }
        }
        return all;
    };
    return find_hosts(parent, int(graph.index.size()), nullptr, edges_in_decider(parent, edges), hosts);
}

// The rank of the calling process in a topology of `ranks` processes.
int rank_among(const Communicator& parent, int ranks, const std::vector<int>& hosts) noexcept {
    if (hosts.empty()) {
        return parent.rank < ranks ? parent.rank : MPI_UNDEFINED;
    }
    const auto place = std::find(hosts.begin(), hosts.end(), parent.rank);
    return place != hosts.end() ? int(place - hosts.begin()) : MPI_UNDEFINED;
}

int host_of(int rank, const std::vector<int>& hosts) noexcept {
    return hosts.empty() ? rank : hosts[std::size_t(rank)];
}

// The ends of the edges that a process has declared for itself, for the process that will have its rank.
std::vector<EdgeEnd> ends_of(const Adjacency& own, int host) {
    std::vector<EdgeEnd> ends;
    const auto weight = [&](const std::vector<int>& weights, std::size_t i) { return own.weighted ? weights[i] : 1; };
    for (std::size_t i = 0; i < own.sources.size(); ++i) {
        ends.push_back({host, 1, own.sources[i], weight(own.source_weights, i)});
    }
    for (std::size_t i = 0; i < own.destinations.size(); ++i) {
        ends.push_back({host, 0, own.destinations[i], weight(own.destination_weights, i)});
    }
    return ends;
}

} // namespace

int create_cart(Communicator& parent, const Grid& grid, bool reorder, Communicator** made) {
    std::vector<int> hosts;
    const int code = reorder ? hosts_of_grid(parent, grid, &hosts) : MPI_SUCCESS;
    return construct(
        parent, grid.size(), hosts, code, [&](int rank) { return std::make_shared<Topology>(grid, rank); }, made);
}

int map_to(const Communicator& parent, int ranks) noexcept {
    return rank_among(parent, ranks, {});
}

int create_subgrid(Communicator& parent, std::span<const int> remain, Communicator** made) {
    const Grid& whole = *parent.topology->grid();
    const auto dimensions = std::size_t(whole.dimensions());
    std::vector<std::size_t> kept;
    std::vector<int> sizes;
    std::vector<int> periods;
    for (std::size_t dimension = 0; dimension < dimensions; ++dimension) {
        if (remain[dimension] != 0) {
            kept.push_back(dimension);
            sizes.push_back(whole.sizes()[dimension]);
            periods.push_back(whole.is_periodic(int(dimension)));
        }
    }
    const Grid part(sizes, periods);
    // The coordinates in the other dimensions are those of the calling process.
    std::vector<int> coordinates(dimensions);
    whole.find_coordinates(parent.rank, coordinates);
    std::vector<int> in_part(kept.size());
    std::vector<int> hosts;
    for (int rank = 0; rank < part.size(); ++rank) {
        part.find_coordinates(rank, in_part);
        for (std::size_t i = 0; i < kept.size(); ++i) {
            coordinates[kept[i]] = in_part[i];
        }
        hosts.push_back(whole.rank_of(coordinates));
    }
    return construct(
        parent, part.size(), hosts, MPI_SUCCESS, [&](int rank) { return std::make_shared<Topology>(part, rank); },
        made);
}

int create_graph(Communicator& parent, const Graph& graph, bool reorder, Communicator** made) {
    std::vector<int> hosts;
    const int code = reorder ? hosts_of_graph(parent, graph, &hosts) : MPI_SUCCESS;
    return construct(
        parent, int(graph.index.size()), hosts, code, [&](int rank) { return std::make_shared<Topology>(graph, rank); },
        made);
}

int create_dist_graph(Communicator& parent, const std::vector<Edge>& declared, bool weighted, const Info* info,
    bool reorder, Communicator** made) {
    std::vector<int> hosts;
    int code = MPI_SUCCESS;
    if (reorder) {
        code = find_hosts(
            parent, parent.size, nullptr, [&](std::vector<Edge>* all) { return gather_edges(parent, declared, all); },
            &hosts);
    }
    std::vector<EdgeEnd> ends;
    if (code == MPI_SUCCESS) {
        code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
            for (const Edge& edge : declared) {
                ends.push_back({host_of(edge.from, hosts), 0, edge.to, edge.weight});
                ends.push_back({host_of(edge.to, hosts), 1, edge.from, edge.weight});
            }
            return MPI_SUCCESS;
        });
    }
    Adjacency adjacency;
    code = exchange_edges(parent, std::move(ends), code, weighted, &adjacency);
    return construct(
        parent, parent.size, hosts, code, [&](int) { return std::make_shared<Topology>(std::move(adjacency)); }, made,
        info);
}

int create_dist_graph_adjacent(
    Communicator& parent, Adjacency adjacency, const Info* info, bool reorder, Communicator** made) {
    std::vector<int> hosts;
    int code = MPI_SUCCESS;
    if (reorder) {
        std::vector<Edge> edges; // each edge is declared at both ends: those that go out are all
        for (std::size_t i = 0; i < adjacency.destinations.size(); ++i) {
            edges.push_back(
                {parent.rank, adjacency.destinations[i], adjacency.weighted ? adjacency.destination_weights[i] : 1});
        }
        code = find_hosts(
            parent, parent.size, nullptr, [&](std::vector<Edge>* all) { return gather_edges(parent, edges, all); },
            &hosts);
    }
    if (!hosts.empty() && code == MPI_SUCCESS) {
        std::vector<EdgeEnd> ends;
        code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
            ends = ends_of(adjacency, hosts[std::size_t(parent.rank)]);
            return MPI_SUCCESS;
        });
        Adjacency moved;
        code = exchange_edges(parent, std::move(ends), code, adjacency.weighted, &moved);
        adjacency = std::move(moved);
    }
    return construct(
        parent, parent.size, hosts, code, [&](int) { return std::make_shared<Topology>(std::move(adjacency)); }, made,
        info);
}

} // namespace patchbay
