// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "include/mpi.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

// A grid of processes, whose ranks are in row-major order (MPI-5.0, 8.2).
class Grid {
public:
    // One element per dimension; the sizes are positive, and their product fits into an int. A period is a logical
    // value. A grid without dimensions has one process.
    Grid(std::span<const int> sizes, std::span<const int> periods);

    int dimensions() const noexcept { return int(_sizes.size()); }
    std::span<const int> sizes() const noexcept { return {_sizes.data(), _sizes.size()}; }
    bool is_periodic(int dimension) const noexcept { return _periods[std::size_t(dimension)] != 0; }
    // The number of processes.
    int size() const noexcept { return _size; }

    // `coordinates` has one element per dimension, here and below.
    void find_coordinates(int rank, std::span<int> coordinates) const noexcept;
    // Whether the coordinate, of any value, is one of the grid: in a periodic dimension each one is.
    bool contains(int dimension, int coordinate) const noexcept;
    // The rank of the process with coordinates that the grid contains.
    int rank_of(std::span<const int> coordinates) const noexcept;
    // The rank of the process that is `displacement` steps up from `rank` in that dimension; MPI_PROC_NULL: beyond the
    // border.
    int neighbor(int rank, int dimension, std::int64_t displacement) const noexcept;

private:
    std::vector<int> _sizes;
    std::vector<int> _periods; // 0 or 1
    int _size = 1;
};

// The graph of MPI_Graph_create, which every member knows as a whole: the neighbours of rank i are those elements of
// `edges` that stand before index[i], and not before index[i - 1].
struct Graph {
    std::vector<int> index;
    std::vector<int> edges;

    std::span<const int> neighbors(int rank) const noexcept;
    // Whether there are as many edges from each process to each other one as from that one to it.
    bool is_symmetric() const;
};

// The edges of one process in a distributed graph.
struct Adjacency {
    std::vector<int> sources;
    std::vector<int> destinations;
    // One element per edge, or, without weights, none.
    std::vector<int> source_weights;
    std::vector<int> destination_weights;
    bool weighted = false;
};

// The virtual topology of a communicator, as one of its members sees it (MPI-5.0, chapter 8). Never changes, so that
// communicators share it.
class Topology {
public:
    // `rank`: that of the calling process.
    Topology(Grid grid, int rank);
    Topology(Graph graph, int rank);
    explicit Topology(Adjacency adjacency) noexcept;
    Topology(const Topology&) = delete;
    Topology& operator=(const Topology&) = delete;

    // MPI_CART, MPI_GRAPH or MPI_DIST_GRAPH.
    int kind() const noexcept;
    // nullptr: the topology is of another kind.
    const Grid* grid() const noexcept { return std::get_if<Grid>(&_structure); }
    const Graph* graph() const noexcept { return std::get_if<Graph>(&_structure); }
    const Adjacency* adjacency() const noexcept { return std::get_if<Adjacency>(&_structure); }

    // The neighbours of the calling process, in the order of the blocks in the buffers of the neighbourhood
    // collectives. MPI_PROC_NULL: there is no neighbour beyond the border of the grid, and the block is ignored.
    std::span<const int> sources() const noexcept { return {_sources.data(), _sources.size()}; }
    std::span<const int> destinations() const noexcept { return {_destinations.data(), _destinations.size()}; }
    // One process may be several neighbours of another one. The messages to a process are sent in the order of
    // destinations(); they match its receives in the order receive(0), receive(1), ..., where each number is an index
    // of sources(). In a dimension of a grid the message that goes down comes from above (MPI-5.0, 8.6).
    std::size_t receive(std::size_t i) const noexcept { return grid() != nullptr ? i ^ 1u : i; }
    // false: a graph whose edges are not symmetric, on which neighbourhood collectives are not defined (MPI-5.0, 8.6).
    bool has_neighborhoods() const noexcept { return _has_neighborhoods; }

private:
    std::variant<Grid, Graph, Adjacency> _structure;
    std::vector<int> _own; // neighbours that do not stand in the structure
    std::span<const int> _sources;
    std::span<const int> _destinations;
    bool _has_neighborhoods = true;
};

} // namespace patchbay
