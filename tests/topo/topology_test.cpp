// SPDX-License-Identifier: BSD-3-Clause
// Grids, graphs, and the order in which messages between neighbours match.
#include "object/topology.h"

#include <climits>
#include <gtest/gtest.h>
#include <vector>

using namespace patchbay;

namespace {

Grid grid(std::vector<int> sizes, std::vector<int> periods) {
    return Grid(sizes, periods);
}
std::vector<int> list(std::span<const int> values) {
    return {values.begin(), values.end()};
}
constexpr int no_process = MPI_PROC_NULL;

TEST(Grids, RanksAreInRowMajorOrder) {
    const Grid g = grid({2, 3, 4}, {0, 0, 0});
    EXPECT_EQ(g.size(), 24);
    std::vector<int> coordinates(3);
    for (int rank = 0; rank < g.size(); ++rank) {
        g.find_coordinates(rank, coordinates);
        EXPECT_EQ(coordinates[0] * 12 + coordinates[1] * 4 + coordinates[2], rank);
        EXPECT_EQ(g.rank_of(coordinates), rank);
    }
}

TEST(Grids, WithoutDimensionsThereIsOneProcess) {
    const Grid g = grid({}, {});
    EXPECT_EQ(g.size(), 1);
    EXPECT_EQ(g.rank_of({}), 0);
    EXPECT_TRUE(Topology(g, 0).sources().empty());
}

TEST(Grids, CoordinatesOfPeriodicDimensionsAreTakenModuloTheirSize) {
    const Grid g = grid({3, 4}, {7, 0}); // any logical value
    EXPECT_TRUE(g.is_periodic(0));
    EXPECT_FALSE(g.is_periodic(1));
    EXPECT_TRUE(g.contains(0, -1));
    EXPECT_TRUE(g.contains(0, INT_MIN));
    EXPECT_FALSE(g.contains(1, -1));
    EXPECT_FALSE(g.contains(1, 4));
    EXPECT_EQ(g.rank_of(std::vector<int>{-1, 2}), 10);
    EXPECT_EQ(g.rank_of(std::vector<int>{INT_MAX, 0}), INT_MAX % 3 * 4);
    EXPECT_EQ(g.rank_of(std::vector<int>{-4, 3}), 11);
}

TEST(Grids, NeighborsAtAnyDistance) {
    const Grid g = grid({3, 4}, {1, 0});
    EXPECT_EQ(g.neighbor(0, 0, 1), 4);
    EXPECT_EQ(g.neighbor(0, 0, -1), 8);
    EXPECT_EQ(g.neighbor(0, 1, -1), no_process);
    EXPECT_EQ(g.neighbor(3, 1, 1), no_process);
    EXPECT_EQ(g.neighbor(1, 1, 2), 3);
    EXPECT_EQ(g.neighbor(5, 0, 0), 5);
    EXPECT_EQ(g.neighbor(5, 0, 300), 5);
    EXPECT_EQ(g.neighbor(5, 0, -std::int64_t(INT_MIN)), 5 + 4 * ((1 + -std::int64_t(INT_MIN)) % 3 - 1));
    EXPECT_EQ(g.neighbor(5, 1, INT_MAX), no_process);
    EXPECT_EQ(g.neighbor(5, 1, INT_MIN), no_process);
}

TEST(Topologies, NeighborsInAGridComeInPairs) {
    const Topology t(grid({2, 3}, {0, 1}), 4);
    EXPECT_EQ(t.kind(), MPI_CART);
    EXPECT_EQ(list(t.sources()), (std::vector<int>{1, no_process, 3, 5}));
    EXPECT_EQ(list(t.destinations()), list(t.sources()));
}

// In a periodic dimension of size 1 or 2 both neighbours are the same process: its message down is received from above.
TEST(Topologies, WhatGoesDownComesFromAbove) {
    for (const int size : {1, 2}) {
        const Topology sender(grid({size}, {1}), 0);
        const Topology receiver(grid({size}, {1}), size - 1);
        ASSERT_EQ(sender.destinations()[0], size - 1);
        ASSERT_EQ(sender.destinations()[1], size - 1);
        EXPECT_EQ(receiver.receive(0), 1u); // the first message, which goes down
        EXPECT_EQ(receiver.receive(1), 0u);
    }
}

TEST(Topologies, GraphsAreSymmetricOrNot) {
    const Graph ring{{2, 4, 6}, {1, 2, 0, 2, 0, 1}};
    EXPECT_TRUE(ring.is_symmetric());
    const Topology t(ring, 1);
    EXPECT_EQ(t.kind(), MPI_GRAPH);
    EXPECT_EQ(list(t.sources()), (std::vector<int>{0, 2}));
    EXPECT_TRUE(t.has_neighborhoods());
    EXPECT_FALSE(Topology(Graph{{1, 1}, {1}}, 0).has_neighborhoods());
    EXPECT_TRUE(Topology(Graph{{1, 1}, {0}}, 0).has_neighborhoods());        // an edge to itself
    EXPECT_FALSE(Topology(Graph{{2, 3}, {1, 1, 0}}, 0).has_neighborhoods()); // two edges there and one back
    EXPECT_TRUE(Topology(Graph{{2, 4}, {1, 1, 0, 0}}, 0).has_neighborhoods());
}

TEST(Topologies, DistributedGraphsKeepTheirOrder) {
    Adjacency adjacency;
    adjacency.sources = {3, 1, 3};
    adjacency.destinations = {2};
    const Topology t(std::move(adjacency));
    EXPECT_EQ(t.kind(), MPI_DIST_GRAPH);
    EXPECT_EQ(list(t.sources()), (std::vector<int>{3, 1, 3}));
    EXPECT_EQ(t.receive(0), 0u);
    EXPECT_EQ(t.receive(1), 1u);
    EXPECT_TRUE(t.has_neighborhoods());
}

} // namespace
