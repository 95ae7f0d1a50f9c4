// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/topologies/places.h"

#include <cstdint>
#include <span>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

class Grid;

// An edge of a topology, between two of its ranks. The direction has no meaning here.
struct Edge {
    int from;
    int to;
    int weight;
};

// The edges between the neighbours in a grid, each with weight 1.
std::vector<Edge> edges_of(const Grid& grid);

// The sum of the distances of all edges, each times its weight, if rank i of the topology is the process hosts[i].
std::int64_t cost(
    std::span<const Edge> edges, const std::vector<Place>& places, const std::vector<int>& hosts) noexcept;

// Decides which process has which rank of a topology: element i of the result is the process for rank i. There are as
// many ranks as places. Tries the processes in the order of the hardware, blocks of ranks that have many edges with
// each other, and, where the topology is a `grid` (not null), equal tiles of it; takes what has the least cost. Empty:
// none of these has less than the processes in their present order.
std::vector<int> reorder(std::span<const Edge> edges, const Grid* grid, const std::vector<Place>& places);

} // namespace patchbay
