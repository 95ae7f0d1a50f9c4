// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/topologies/reorder.h"
#include "object/communicator.h"
#include "object/topology.h"

#include <span>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

// The constructors of communicators with a virtual topology (MPI-5.0, 8.5). The parent is an intracommunicator. Every
// function is collective over it, and returns an MPI code; the new communicator is nullptr (MPI_COMM_NULL) for a
// process that is in none. They throw std::bad_alloc if memory is exhausted before the first message. `reorder`: the
// processes may get ranks by which neighbours are nearer to each other.

// MPI_Cart_create: the grid has no more processes than the parent.
int create_cart(Communicator& parent, const Grid& grid, bool reorder, Communicator** made);
// MPI_Cart_map and MPI_Graph_map, the only ones that are local: the rank of the calling process in a topology of
// `ranks` processes, or MPI_UNDEFINED.
int map_to(const Communicator& parent, int ranks) noexcept;
// MPI_Cart_sub: the parent has a grid; `remain` has one logical value per dimension.
int create_subgrid(Communicator& parent, std::span<const int> remain, Communicator** made);

// MPI_Graph_create: the graph has no more processes than the parent.
int create_graph(Communicator& parent, const Graph& graph, bool reorder, Communicator** made);

// MPI_Dist_graph_create: each process declares edges between any ranks. The neighbours of each process are in the order
// of the ranks that declared the edges, and then in the order of these declarations. `info` may be null.
int create_dist_graph(Communicator& parent, const std::vector<Edge>& declared, bool weighted, const Info* info,
    bool reorder, Communicator** made);
// MPI_Dist_graph_create_adjacent: each process declares its own edges, which keep their order.
int create_dist_graph_adjacent(
    Communicator& parent, Adjacency adjacency, const Info* info, bool reorder, Communicator** made);

} // namespace patchbay
