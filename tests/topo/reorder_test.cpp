// SPDX-License-Identifier: BSD-3-Clause
// Ranks by hardware distance, on simulated machines.
#include "mpi/topologies/grid_tiles.h"
#include "mpi/topologies/reorder.h"
#include "object/topology.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

using namespace patchbay;

namespace {

// Each process is bound to a core of its own; levels 1 to 5 are the same, if there are no packages.
Place place(int node, int package, int core) {
    Place result{};
    result.resources.fill(0);
    result.resources[0] = node;
    result.resources[1] = package;
    result.resources[2] = package;
    result.resources[6] = core;
    return result;
}

// Processes are placed on the nodes in turn, as by mpirun --map-by node.
std::vector<Place> in_turn(int processes, int nodes) {
    std::vector<Place> places;
    for (int i = 0; i < processes; ++i) {
        places.push_back(place(i % nodes, 0, i / nodes));
    }
    return places;
}
std::vector<Place> packed(int processes, int nodes) {
    std::vector<Place> places;
    for (int i = 0; i < processes; ++i) {
        places.push_back(place(i / (processes / nodes), 0, i % (processes / nodes)));
    }
    return places;
}

Grid grid(std::vector<int> sizes, bool periodic = false) {
    const std::vector<int> periods(sizes.size(), periodic);
    return Grid(sizes, periods);
}

int edges_between_nodes(std::span<const Edge> edges, const std::vector<Place>& places, const std::vector<int>& hosts) {
    return int(std::count_if(edges.begin(), edges.end(), [&](const Edge& edge) {
        const auto node = [&](int rank) { return places[std::size_t(hosts[std::size_t(rank)])].resources[0]; };
        return node(edge.from) != node(edge.to);
    }));
}

bool is_permutation(std::vector<int> hosts, std::size_t size) {
    std::sort(hosts.begin(), hosts.end());
    std::vector<int> all(size);
    std::iota(all.begin(), all.end(), 0);
    return hosts == all;
}

TEST(Distances, DoubleWithEachLevel) {
    const Place a = place(0, 0, 0);
    EXPECT_EQ(distance(a, a), 0);
    EXPECT_EQ(2 * distance(a, place(0, 0, 1)), 4 * distance(a, [] {
        Place other = place(0, 0, 0);
        other.resources[7] = 1;
        return other;
    }()));
    EXPECT_LT(distance(a, place(0, 0, 1)), distance(a, place(0, 1, 0)));
    EXPECT_EQ(2 * distance(a, place(0, 1, 0)), distance(a, place(1, 0, 0)));
    EXPECT_EQ(distance(a, place(1, 0, 0)), distance(place(1, 0, 0), a));
}

TEST(Distances, GrowWithTheLatencyBetweenNumaNodes) {
    Place a = place(0, 0, 0);
    a.latencies[0] = 10;
    a.latencies[1] = 20;
    a.latencies[2] = 30;
    EXPECT_EQ(distance(a, place(0, 1, 0)) * 3, distance(a, place(0, 2, 0)) * 2);
    EXPECT_EQ(distance(a, place(1, 0, 0)), distance(place(0, 0, 0), place(1, 0, 0))) << "not between nodes";
}

TEST(Reordering, NothingIsGainedOnEqualPlaces) {
    const Grid g = grid({4, 4});
    EXPECT_TRUE(reorder(edges_of(g), &g, std::vector<Place>(16, place(0, 0, 0))).empty());
}

// One row of the grid on each node is as good as a square of four, but not better.
TEST(Reordering, AGoodOrderStays) {
    const Grid g = grid({8});
    EXPECT_TRUE(reorder(edges_of(g), &g, packed(8, 2)).empty());
}

TEST(Reordering, ALineIsPacked) {
    const Grid g = grid({8});
    const std::vector<Place> places = in_turn(8, 2);
    const std::vector<Edge> edges = edges_of(g);
    const std::vector<int> hosts = reorder(edges, &g, places);
    ASSERT_TRUE(is_permutation(hosts, 8));
    EXPECT_EQ(edges_between_nodes(edges, places, hosts), 1);
}

// 4 x 4 ranks on 4 nodes: squares of 2 x 2 have 8 edges between each other, and rows 12.
TEST(Reordering, AGridIsDividedIntoTiles) {
    const Grid g = grid({4, 4});
    const std::vector<Edge> edges = edges_of(g);
    for (const auto& places : {packed(16, 4), in_turn(16, 4)}) {
        const std::vector<int> hosts = reorder(edges, &g, places);
        ASSERT_TRUE(is_permutation(hosts, 16));
        EXPECT_EQ(edges_between_nodes(edges, places, hosts), 8);
    }
}

TEST(Reordering, TilesOfTwoLevels) {
    const Grid g = grid({8, 8});
    const std::vector<Edge> edges = edges_of(g);
    std::vector<Place> places; // 4 nodes with 4 packages of 4 cores
    for (int i = 0; i < 64; ++i) {
        places.push_back(place(i % 4, i / 4 % 4, i / 16));
    }
    const std::vector<int> hosts = reorder(edges, &g, places);
    ASSERT_TRUE(is_permutation(hosts, 64));
    EXPECT_EQ(edges_between_nodes(edges, places, hosts), 16);
    for (std::vector<Place>::iterator p = places.begin(); p != places.end(); ++p) { // packages are nodes now
        p->resources[0] = p->resources[0] * 4 + p->resources[1];
    }
    EXPECT_EQ(edges_between_nodes(edges, places, hosts), 48) << "squares of 2 x 2";
}

TEST(Reordering, TilesHaveTheSizeOfThePieces) {
    EXPECT_EQ(ranks_by_tiles(grid({2, 4}), std::vector<int>{8, 4}), (std::vector<int>{0, 1, 4, 5, 2, 3, 6, 7}));
    EXPECT_TRUE(ranks_by_tiles(grid({3, 3}), std::vector<int>{9, 2}).empty()) << "no dimension has that divisor";
    EXPECT_EQ(ranks_by_tiles(grid({}), std::vector<int>{1}), (std::vector<int>{0}));
}

// Dimensions that cannot be divided, and pieces of different sizes.
TEST(Reordering, GroupsGrowWhereThereAreNoTiles) {
    const Grid g = grid({5, 5});
    const std::vector<Edge> edges = edges_of(g);
    std::vector<Place> places;
    for (int i = 0; i < 25; ++i) {
        places.push_back(place(i % 3 == 0 ? 0 : 1, 0, i)); // 9 and 16 processes
    }
    std::vector<int> identity(25);
    std::iota(identity.begin(), identity.end(), 0);
    const std::vector<int> hosts = reorder(edges, &g, places);
    ASSERT_TRUE(is_permutation(hosts, 25));
    EXPECT_LE(edges_between_nodes(edges, places, hosts), 6);
    EXPECT_GT(edges_between_nodes(edges, places, identity), 20);
}

// Two cliques whose ranks alternate, connected by one edge.
TEST(Reordering, AGraphIsCutWhereItHasFewEdges) {
    std::vector<Edge> edges = {{0, 1, 1}};
    for (int a = 0; a < 12; ++a) {
        for (int b = a + 2; b < 12; b += 2) {
            edges.push_back({a, b, 1});
        }
    }
    const std::vector<Place> places = packed(12, 2);
    const std::vector<int> hosts = reorder(edges, nullptr, places);
    ASSERT_TRUE(is_permutation(hosts, 12));
    EXPECT_EQ(edges_between_nodes(edges, places, hosts), 1);
}

TEST(Reordering, HeavyEdgesStayWithinANode) {
    // A ring whose edges 1-2, 3-4, 5-0 are heavy.
    const std::vector<Edge> edges = {{0, 1, 1}, {1, 2, 100}, {2, 3, 1}, {3, 4, 100}, {4, 5, 1}, {5, 0, 100}};
    const std::vector<Place> places = packed(6, 3);
    const std::vector<int> hosts = reorder(edges, nullptr, places);
    ASSERT_TRUE(is_permutation(hosts, 6));
    for (const auto& [a, b] : {std::pair(1, 2), std::pair(3, 4), std::pair(5, 0)}) {
        EXPECT_EQ(hosts[std::size_t(a)] / 2, hosts[std::size_t(b)] / 2);
    }
}

// Edges to itself, double edges, ranks without edges, weights of 0, processes of which nothing is known.
TEST(Reordering, OddGraphs) {
    std::vector<Place> places = in_turn(7, 2);
    places[3].resources.fill(Place::unknown);
    const std::vector<Edge> edges = {{0, 0, 5}, {1, 2, 0}, {2, 1, 3}, {1, 2, 3}, {6, 1, 1}};
    const std::vector<int> hosts = reorder(edges, nullptr, places);
    EXPECT_TRUE(hosts.empty() || is_permutation(hosts, 7));
    EXPECT_TRUE(reorder({}, nullptr, places).empty());
}

} // namespace
