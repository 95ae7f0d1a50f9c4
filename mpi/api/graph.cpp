// SPDX-License-Identifier: BSD-3-Clause
// Graph topologies and distributed graph topologies (MPI-5.0, 8.5.3 to 8.5.5, 8.5.8).
#include "mpi/api/topology_args.h"
#include "mpi/topologies/topologies.h"

#include <algorithm>

namespace patchbay::api {

namespace {

const Graph& graph_of(const Arguments& args) noexcept {
    return *args.comm()->topology->graph();
}
const Adjacency& adjacency_of(const Arguments& args) noexcept {
    return *args.comm()->topology->adjacency();
}

// The arguments that describe a graph of at most as many processes as the communicator has.
bool check_graph(Arguments& args, int nnodes, const int* index, const int* edges) noexcept {
    if (!(not_negative(args, MPI_ERR_ARG, "nnodes", nnodes) &&
            args.require(nnodes <= args.comm()->size, MPI_ERR_ARG, "nnodes", nnodes,
                "must not be greater than the size of the communicator") &&
            args.array("index", index, nnodes))) {
        return false;
    }
    int last = 0;
    for (int i = 0; i < nnodes; ++i) {
        if (!args.require(index[i] >= last, MPI_ERR_ARG, "an element of index", index[i],
                "must not be less than the one before, or negative")) {
            return false;
        }
        last = index[i];
    }
    if (!args.array("edges", edges, last)) {
        return false;
    }
    for (int i = 0; i < last; ++i) {
        if (!args.require(edges[i] >= 0 && edges[i] < nnodes, MPI_ERR_RANK, "an element of edges", edges[i],
                "must be from 0 to nnodes - 1")) {
            return false;
        }
    }
    return true;
}

Graph make_graph(int nnodes, const int* index, const int* edges) {
    const int count = nnodes > 0 ? index[nnodes - 1] : 0;
    return {std::vector<int>(index, index + nnodes), std::vector<int>(edges, edges + count)};
}

bool check_ranks(
    Arguments& args, const char* array_name, const char* name, const int* ranks, MPI_Count count) noexcept {
    if (!args.array(array_name, ranks, count)) {
        return false;
    }
    for (MPI_Count i = 0; i < count; ++i) {
        if (!rank_of_member(args, name, ranks[i])) {
            return false;
        }
    }
    return true;
}

// Weights of `count` edges: MPI_UNWEIGHTED, an array, or, without edges, MPI_WEIGHTS_EMPTY.
bool check_weights(Arguments& args, const char* name, const int* weights, MPI_Count count) noexcept {
    if (weights == MPI_UNWEIGHTED || count == 0) {
        return true;
    }
    if (!(args.pointer(name, weights) &&
            args.require(weights != MPI_WEIGHTS_EMPTY, MPI_ERR_ARG, name,
                MPI_Count(reinterpret_cast<std::intptr_t>(weights)),
                "must not be MPI_WEIGHTS_EMPTY, because there are edges"))) {
        return false;
    }
    for (MPI_Count i = 0; i < count; ++i) {
        if (!not_negative(args, MPI_ERR_ARG, name, weights[i])) {
            return false;
        }
    }
    return true;
}

// One direction of MPI_Dist_graph_create_adjacent.
struct Direction {
    const char* degree_name;
    const char* array_name;
    const char* name;
    const char* weights_name;
    int degree;
    const int* ranks;
    const int* weights;
};

bool check_direction(Arguments& args, const Direction& edges) noexcept {
    return not_negative(args, MPI_ERR_ARG, edges.degree_name, edges.degree) &&
        check_ranks(args, edges.array_name, edges.name, edges.ranks, edges.degree) &&
        check_weights(args, edges.weights_name, edges.weights, edges.degree);
}

std::vector<int> copy(const int* values, int count) {
    return count > 0 ? std::vector<int>(values, values + count) : std::vector<int>();
}

Adjacency make_adjacency(const Direction& in, const Direction& out) {
    Adjacency result;
    result.sources = copy(in.ranks, in.degree);
    result.destinations = copy(out.ranks, out.degree);
    // Without edges, either constant may stand in the place of weights.
    result.weighted = in.weights != MPI_UNWEIGHTED || out.weights != MPI_UNWEIGHTED;
    if (result.weighted) {
        result.source_weights =
            in.weights != MPI_UNWEIGHTED ? copy(in.weights, in.degree) : std::vector<int>(std::size_t(in.degree), 1);
        result.destination_weights = out.weights != MPI_UNWEIGHTED ? copy(out.weights, out.degree)
                                                                   : std::vector<int>(std::size_t(out.degree), 1);
    }
    return result;
}

// The edges that a process declares for any ranks.
bool check_declared(Arguments& args, int n, const int* sources, const int* degrees, const int* destinations,
    const int* weights) noexcept {
    if (!(not_negative(args, MPI_ERR_ARG, "n", n) &&
            check_ranks(args, "sources", "an element of sources", sources, n) && args.array("degrees", degrees, n))) {
        return false;
    }
    MPI_Count edges = 0;
    for (int i = 0; i < n; ++i) {
        if (!not_negative(args, MPI_ERR_ARG, "an element of degrees", degrees[i])) {
            return false;
        }
        edges += degrees[i];
    }
    return check_ranks(args, "destinations", "an element of destinations", destinations, edges) &&
        check_weights(args, "weights", weights, edges);
}

std::vector<Edge> declared_edges(
    int n, const int* sources, const int* degrees, const int* destinations, const int* weights) {
    std::vector<Edge> edges;
    for (int i = 0; i < n; ++i) {
        for (int left = degrees[i]; left > 0; --left) {
            const std::size_t next = edges.size();
            edges.push_back({sources[i], destinations[next], weights != MPI_UNWEIGHTED ? weights[next] : 1});
        }
    }
    return edges;
}

// Copies as many elements as there is room for.
void give(std::span<const int> values, int room, int* result) noexcept {
    std::copy_n(values.begin(), std::min(values.size(), std::size_t(room)), result);
}
void give_weights(const Adjacency& adjacency, const std::vector<int>& weights, int room, int* result) noexcept {
    if (adjacency.weighted && result != MPI_UNWEIGHTED && result != MPI_WEIGHTS_EMPTY) {
        give(weights, room, result);
    }
}

// An array for weights, which a topology without weights does not use.
bool check_weights_room(
    Arguments& args, const char* name, const int* weights, std::span<const int> neighbors, int room) noexcept {
    return !adjacency_of(args).weighted ||
        args.array(name, weights, MPI_Count(std::min(neighbors.size(), std::size_t(room))));
}

} // namespace

} // namespace patchbay::api

using namespace patchbay;

int PMPI_Graph_create(
    MPI_Comm comm_old, int nnodes, const int index[], const int edges[], int reorder, MPI_Comm* comm_graph) {
    api::Arguments args("MPI_Graph_create", comm_old);
    if (api::checking() &&
        !(api::begins(args, "comm_graph", comm_graph) && api::check_graph(args, nnodes, index, edges))) {
        return args.code();
    }
    return api::give_communicator(args, comm_graph, [&](Communicator** made) {
        return create_graph(*args.comm(), api::make_graph(nnodes, index, edges), reorder != 0, made);
    });
}

int PMPI_Graph_map(MPI_Comm comm, int nnodes, const int index[], const int edges[], int* newrank) {
    api::Arguments args("MPI_Graph_map", comm);
    if (api::checking() &&
        !(args.intracommunicator() && args.pointer("newrank", newrank) &&
            api::check_graph(args, nnodes, index, edges))) {
        return args.code();
    }
    *newrank = map_to(*args.comm(), nnodes);
    return MPI_SUCCESS;
}

int PMPI_Graphdims_get(MPI_Comm comm, int* nnodes, int* nedges) {
    api::Arguments args("MPI_Graphdims_get", comm);
    if (api::checking() &&
        !(api::has_graph(args) && args.pointer("nnodes", nnodes) && args.pointer("nedges", nedges))) {
        return args.code();
    }
    *nnodes = int(api::graph_of(args).index.size());
    *nedges = int(api::graph_of(args).edges.size());
    return MPI_SUCCESS;
}

int PMPI_Graph_get(MPI_Comm comm, int maxindex, int maxedges, int index[], int edges[]) {
    api::Arguments args("MPI_Graph_get", comm);
    if (api::checking() && !api::has_graph(args)) {
        return args.code();
    }
    const Graph& graph = api::graph_of(args);
    if (api::checking() &&
        !(args.require(maxindex >= int(graph.index.size()), MPI_ERR_ARG, "maxindex", maxindex,
              "must not be less than the number of nodes") &&
            args.require(maxedges >= int(graph.edges.size()), MPI_ERR_ARG, "maxedges", maxedges,
                "must not be less than the number of edges") &&
            args.array("index", index, maxindex) && args.array("edges", edges, MPI_Count(graph.edges.size())))) {
        return args.code();
    }
    std::copy(graph.index.begin(), graph.index.end(), index);
    std::copy(graph.edges.begin(), graph.edges.end(), edges);
    return MPI_SUCCESS;
}

int PMPI_Graph_neighbors_count(MPI_Comm comm, int rank, int* nneighbors) {
    api::Arguments args("MPI_Graph_neighbors_count", comm);
    if (api::checking() &&
        !(api::has_graph(args) && api::rank_of_member(args, "rank", rank) && args.pointer("nneighbors", nneighbors))) {
        return args.code();
    }
    *nneighbors = int(api::graph_of(args).neighbors(rank).size());
    return MPI_SUCCESS;
}

int PMPI_Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[]) {
    api::Arguments args("MPI_Graph_neighbors", comm);
    if (api::checking() && !(api::has_graph(args) && api::rank_of_member(args, "rank", rank))) {
        return args.code();
    }
    const std::span<const int> found = api::graph_of(args).neighbors(rank);
    if (api::checking() &&
        !(args.require(maxneighbors >= int(found.size()), MPI_ERR_ARG, "maxneighbors", maxneighbors,
              "must not be less than the number of neighbors") &&
            args.array("neighbors", neighbors, MPI_Count(found.size())))) {
        return args.code();
    }
    std::copy(found.begin(), found.end(), neighbors);
    return MPI_SUCCESS;
}

int PMPI_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[], const int destinations[],
    const int* weights, MPI_Info info, int reorder, MPI_Comm* comm_dist_graph) {
    api::Arguments args("MPI_Dist_graph_create", comm_old);
    if (api::checking() &&
        !(api::begins(args, "comm_dist_graph", comm_dist_graph) && args.info_or_null("info", info) &&
            api::check_declared(args, n, sources, degrees, destinations, weights))) {
        return args.code();
    }
    return api::give_communicator(args, comm_dist_graph, [&](Communicator** made) {
        const std::vector<Edge> edges = api::declared_edges(n, sources, degrees, destinations, weights);
        return create_dist_graph(
            *args.comm(), edges, weights != MPI_UNWEIGHTED, to_object<Info>(info), reorder != 0, made);
    });
}

int PMPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[], const int* sourceweights,
    int outdegree, const int destinations[], const int* destweights, MPI_Info info, int reorder,
    MPI_Comm* comm_dist_graph) {
    api::Arguments args("MPI_Dist_graph_create_adjacent", comm_old);
    const api::Direction in{
        "indegree", "sources", "an element of sources", "sourceweights", indegree, sources, sourceweights};
    const api::Direction out{
        "outdegree", "destinations", "an element of destinations", "destweights", outdegree, destinations, destweights};
    if (api::checking() &&
        !(api::begins(args, "comm_dist_graph", comm_dist_graph) && args.info_or_null("info", info) &&
            api::check_direction(args, in) && api::check_direction(args, out))) {
        return args.code();
    }
    return api::give_communicator(args, comm_dist_graph, [&](Communicator** made) {
        return create_dist_graph_adjacent(
            *args.comm(), api::make_adjacency(in, out), to_object<Info>(info), reorder != 0, made);
    });
}

int PMPI_Dist_graph_neighbors_count(MPI_Comm comm, int* indegree, int* outdegree, int* weighted) {
    api::Arguments args("MPI_Dist_graph_neighbors_count", comm);
    if (api::checking() &&
        !(api::has_distributed_graph(args) && args.pointer("indegree", indegree) &&
            args.pointer("outdegree", outdegree) && args.pointer("weighted", weighted))) {
        return args.code();
    }
    const Adjacency& adjacency = api::adjacency_of(args);
    *indegree = int(adjacency.sources.size());
    *outdegree = int(adjacency.destinations.size());
    *weighted = adjacency.weighted;
    return MPI_SUCCESS;
}

// If there is less room than there are neighbours, the first ones are returned (MPI-5.0, 8.5.5).
int PMPI_Dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[], int* sourceweights, int maxoutdegree,
    int destinations[], int* destweights) {
    api::Arguments args("MPI_Dist_graph_neighbors", comm);
    if (api::checking() &&
        !(api::has_distributed_graph(args) && api::not_negative(args, MPI_ERR_ARG, "maxindegree", maxindegree) &&
            api::not_negative(args, MPI_ERR_ARG, "maxoutdegree", maxoutdegree))) {
        return args.code();
    }
    const Adjacency& adjacency = api::adjacency_of(args);
    if (api::checking() &&
        !(args.array("sources", sources, std::min(maxindegree, int(adjacency.sources.size()))) &&
            api::check_weights_room(args, "sourceweights", sourceweights, adjacency.sources, maxindegree) &&
            args.array("destinations", destinations, std::min(maxoutdegree, int(adjacency.destinations.size()))) &&
            api::check_weights_room(args, "destweights", destweights, adjacency.destinations, maxoutdegree))) {
        return args.code();
    }
    api::give(adjacency.sources, maxindegree, sources);
    api::give(adjacency.destinations, maxoutdegree, destinations);
    api::give_weights(adjacency, adjacency.source_weights, maxindegree, sourceweights);
    api::give_weights(adjacency, adjacency.destination_weights, maxoutdegree, destweights);
    return MPI_SUCCESS;
}
