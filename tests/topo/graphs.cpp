// SPDX-License-Identifier: BSD-3-Clause
// Graph topologies and distributed graph topologies: construction, inquiry, and that all processes see the same edges.
#include "tests/mpi_check/check.h"

#include <algorithm>
#include <cstddef>
#include <random>
#include <tuple>
#include <vector>

namespace {

int rank;
int size;

int kind_of(MPI_Comm comm) {
    int kind = -1;
    CHECK_OK(MPI_Topo_test(comm, &kind));
    return kind;
}

// A ring, with an edge of rank 0 to itself.
void test_graph() {
    std::vector<int> index;
    std::vector<int> edges;
    for (int i = 0; i < size; ++i) {
        edges.push_back((i + 1) % size);
        edges.push_back((i + size - 1) % size);
        if (i == 0) {
            edges.push_back(0);
        }
        index.push_back(int(edges.size()));
    }
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, size, index.data(), edges.data(), 0, &comm));
    CHECK_EQUAL(kind_of(comm), MPI_GRAPH);
    MPI_Comm copy = MPI_COMM_NULL;
    CHECK_OK(MPI_Comm_dup(comm, &copy));
    MPI_Comm_free(&comm);
    int nodes = -1;
    int edge_count = -1;
    CHECK_OK(MPI_Graphdims_get(copy, &nodes, &edge_count));
    CHECK_EQUAL(nodes, size);
    CHECK_EQUAL(edge_count, int(edges.size()));
    std::vector<int> got_index(index.size(), -1);
    std::vector<int> got_edges(edges.size(), -1);
    CHECK_OK(MPI_Graph_get(copy, nodes, edge_count, got_index.data(), got_edges.data()));
    CHECK(got_index == index);
    CHECK(got_edges == edges);
    for (int i = 0; i < size; ++i) {
        int count = -1;
        CHECK_OK(MPI_Graph_neighbors_count(copy, i, &count));
        CHECK_EQUAL(count, i == 0 ? 3 : 2);
        std::vector<int> neighbors(4, -77);
        CHECK_OK(MPI_Graph_neighbors(copy, i, count, neighbors.data()));
        CHECK_EQUAL(neighbors[0], (i + 1) % size);
        CHECK_EQUAL(neighbors[1], (i + size - 1) % size);
        CHECK_EQUAL(neighbors[2], i == 0 ? 0 : -77);
    }
    MPI_Comm_free(&copy);
}

// Fewer nodes than processes, and none.
void test_small_graphs() {
    const int index[] = {1, 2};
    const int edges[] = {1, 0};
    for (int nodes = 0; nodes <= std::min(size, 2); ++nodes) {
        const int alone[] = {0};
        const int* const indices = nodes == 1 ? alone : index;
        MPI_Comm comm = MPI_COMM_WORLD;
        CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, nodes, indices, edges, 0, &comm));
        CHECK_EQUAL(comm == MPI_COMM_NULL, rank >= nodes);
        int mapped = -77;
        CHECK_OK(MPI_Graph_map(MPI_COMM_WORLD, nodes, indices, edges, &mapped));
        CHECK_EQUAL(mapped, rank >= nodes ? MPI_UNDEFINED : rank);
        if (comm != MPI_COMM_NULL) {
            MPI_Comm_free(&comm);
        }
    }
}

using DeclaredEdge = std::tuple<int, int, int>; // source, destination, weight

// The edges as the processes see them: each one must be seen by its source and by its destination.
void check_edges(MPI_Comm comm, std::vector<DeclaredEdge> declared, bool with_weights) {
    int in = -1;
    int out = -1;
    int weighted = -1;
    CHECK_EQUAL(kind_of(comm), MPI_DIST_GRAPH);
    CHECK_OK(MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted));
    CHECK_EQUAL(weighted, with_weights);
    std::vector<int> sources(std::size_t(in) + 1, -77);
    std::vector<int> source_weights(std::size_t(in) + 1, -77);
    std::vector<int> dests(std::size_t(out) + 1, -77);
    std::vector<int> dest_weights(std::size_t(out) + 1, -77);
    CHECK_OK(MPI_Dist_graph_neighbors(
        comm, in + 1, sources.data(), source_weights.data(), out + 1, dests.data(), dest_weights.data()));
    CHECK(sources.back() == -77 && dests.back() == -77 && source_weights.back() == -77 && dest_weights.back() == -77);
    std::vector<DeclaredEdge> incoming;
    std::vector<DeclaredEdge> outgoing;
    for (std::size_t i = 0; i < std::size_t(in); ++i) {
        incoming.emplace_back(sources[i], rank, with_weights ? source_weights[i] : 0);
    }
    for (std::size_t i = 0; i < std::size_t(out); ++i) {
        outgoing.emplace_back(rank, dests[i], with_weights ? dest_weights[i] : 0);
    }
    std::vector<DeclaredEdge> wanted_incoming;
    std::vector<DeclaredEdge> wanted_outgoing;
    for (const DeclaredEdge& edge : declared) {
        const auto [source, dest, weight] = edge;
        if (dest == rank) {
            wanted_incoming.emplace_back(source, dest, with_weights ? weight : 0);
        }
        if (source == rank) {
            wanted_outgoing.emplace_back(source, dest, with_weights ? weight : 0);
        }
    }
    const auto equal = [](std::vector<DeclaredEdge> a, std::vector<DeclaredEdge> b) {
        std::sort(a.begin(), a.end());
        std::sort(b.begin(), b.end());
        return a == b;
    };
    CHECK(equal(incoming, wanted_incoming));
    CHECK(equal(outgoing, wanted_outgoing));
    // With less room the first ones are returned.
    if (in > 1) {
        std::vector<int> first(std::size_t(in), -77);
        CHECK_OK(MPI_Dist_graph_neighbors(comm, in - 1, first.data(), MPI_UNWEIGHTED, 0, nullptr, MPI_UNWEIGHTED));
        CHECK(std::equal(first.begin(), first.end() - 1, sources.begin()));
        CHECK_EQUAL(first.back(), -77);
    }
}

// Each process declares random edges between any processes.
void test_distributed(bool with_weights, unsigned seed) {
    std::mt19937 random(seed); // the same in all processes
    std::vector<DeclaredEdge> all;
    std::vector<int> sources;
    std::vector<int> degrees;
    std::vector<int> dests;
    std::vector<int> weights;
    for (int node = 0; node < 4 * size; ++node) {
        const bool mine = int(random() % unsigned(size)) == rank;
        const int source = int(random() % unsigned(size));
        const int degree = int(random() % 5u);
        if (mine) {
            sources.push_back(source);
            degrees.push_back(degree);
        }
        for (int k = 0; k < degree; ++k) {
            const int dest = int(random() % unsigned(size));
            const int weight = int(random() % 100u);
            all.emplace_back(source, dest, weight);
            if (mine) {
                dests.push_back(dest);
                weights.push_back(weight);
            }
        }
    }
    const int* given = MPI_UNWEIGHTED;
    if (with_weights) {
        given = weights.empty() ? MPI_WEIGHTS_EMPTY : weights.data();
    }
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, int(sources.size()), sources.data(), degrees.data(), dests.data(),
        given, MPI_INFO_NULL, 0, &comm));
    check_edges(comm, all, with_weights);
    MPI_Comm copy = MPI_COMM_NULL;
    CHECK_OK(MPI_Comm_dup(comm, &copy));
    MPI_Comm_free(&comm);
    check_edges(copy, all, with_weights);
    MPI_Comm_free(&copy);
}

// The lists keep their order.
void test_adjacent() {
    std::vector<int> sources;
    std::vector<int> dests;
    std::vector<int> source_weights;
    std::vector<int> dest_weights;
    for (int i = size - 1; i >= 0; --i) {
        for (int k = 0; k < 2; ++k) {
            sources.push_back(i);
            source_weights.push_back(i * 100 + rank * 10 + k);
            dests.push_back((i + rank) % size);
            dest_weights.push_back(rank * 100 + dests.back() * 10 + k);
        }
    }
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, int(sources.size()), sources.data(), source_weights.data(),
        int(dests.size()), dests.data(), dest_weights.data(), MPI_INFO_NULL, 0, &comm));
    std::vector<int> got_sources(sources.size());
    std::vector<int> got_source_weights(sources.size());
    std::vector<int> got_dests(dests.size());
    std::vector<int> got_dest_weights(dests.size());
    CHECK_OK(MPI_Dist_graph_neighbors(comm, int(sources.size()), got_sources.data(), got_source_weights.data(),
        int(dests.size()), got_dests.data(), got_dest_weights.data()));
    CHECK(got_sources == sources);
    CHECK(got_source_weights == source_weights);
    CHECK(got_dests == dests);
    CHECK(got_dest_weights == dest_weights);
    // The weight of an edge arrives on that edge, also where there are two of them.
    std::vector<int> received(sources.size(), -1);
    CHECK_OK(MPI_Neighbor_alltoall(dest_weights.data(), 1, MPI_INT, received.data(), 1, MPI_INT, comm));
    CHECK(received == source_weights);
    MPI_Comm_free(&comm);
}

// Without any edge, with each constant that may stand for weights.
void test_no_edges() {
    for (const int* weights : {static_cast<const int*>(MPI_UNWEIGHTED), static_cast<const int*>(MPI_WEIGHTS_EMPTY)}) {
        const bool weighted = weights == MPI_WEIGHTS_EMPTY;
        MPI_Comm comm = MPI_COMM_NULL;
        CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 0, nullptr, nullptr, nullptr, weights, MPI_INFO_NULL, 1, &comm));
        check_edges(comm, {}, weighted);
        CHECK_OK(MPI_Neighbor_alltoallv(nullptr, nullptr, nullptr, MPI_INT, nullptr, nullptr, nullptr, MPI_INT, comm));
        CHECK_OK(MPI_Neighbor_alltoallw(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, comm));
        MPI_Comm_free(&comm);
        CHECK_OK(MPI_Dist_graph_create_adjacent(
            MPI_COMM_WORLD, 0, nullptr, weights, 0, nullptr, weights, MPI_INFO_NULL, 1, &comm));
        check_edges(comm, {}, weighted);
        CHECK_OK(MPI_Neighbor_allgather(nullptr, 1, MPI_INT, nullptr, 1, MPI_INT, comm));
        MPI_Comm_free(&comm);
    }
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    test_graph();
    test_small_graphs();
    for (unsigned seed = 1; seed <= 4; ++seed) {
        test_distributed(true, seed);
        test_distributed(false, seed + 10);
    }
    test_adjacent();
    test_no_edges();
    return finish();
}
