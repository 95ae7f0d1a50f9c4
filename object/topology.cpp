// SPDX-License-Identifier: BSD-3-Clause
#include "object/topology.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace patchbay {

namespace {

// The coordinate that is equal to `value` in a dimension that is periodic.
int wrapped(std::int64_t value, int size) noexcept {
    const auto rest = int(value % size);
    return rest < 0 ? rest + size : rest;
}

} // namespace

Grid::Grid(std::span<const int> sizes, std::span<const int> periods)
    : _sizes(sizes.begin(), sizes.end()) {
    _periods.reserve(periods.size());
    for (const int period : periods) {
        _periods.push_back(period != 0);
    }
    for (const int size : _sizes) {
        _size *= size;
    }
}

void Grid::find_coordinates(int rank, std::span<int> coordinates) const noexcept {
    for (std::size_t dimension = _sizes.size(); dimension-- > 0; rank /= _sizes[dimension]) {
        coordinates[dimension] = rank % _sizes[dimension];
    }
}

bool Grid::contains(int dimension, int coordinate) const noexcept {
    return is_periodic(dimension) || (coordinate >= 0 && coordinate < _sizes[std::size_t(dimension)]);
}

int Grid::rank_of(std::span<const int> coordinates) const noexcept {
    int rank = 0;
    for (std::size_t dimension = 0; dimension < _sizes.size(); ++dimension) {
        rank = rank * _sizes[dimension] + wrapped(coordinates[dimension], _sizes[dimension]);
    }
    return rank;
}

int Grid::neighbor(int rank, int dimension, std::int64_t displacement) const noexcept {
    int stride = 1; // between the ranks of neighbours in that dimension
    for (std::size_t later = std::size_t(dimension) + 1; later < _sizes.size(); ++later) {
        stride *= _sizes[later];
    }
    const int size = _sizes[std::size_t(dimension)];
    const int here = rank / stride % size;
    const std::int64_t there = here + displacement;
    if (!is_periodic(dimension) && (there < 0 || there >= size)) {
        return MPI_PROC_NULL;
    }
    return rank + (wrapped(there, size) - here) * stride;
}

std::span<const int> Graph::neighbors(int rank) const noexcept {
    const auto place = std::size_t(rank);
    const auto begin = std::size_t(rank == 0 ? 0 : index[place - 1]);
    return std::span(edges).subspan(begin, std::size_t(index[place]) - begin);
}

bool Graph::is_symmetric() const {
    std::vector<std::pair<int, int>> there;
    std::vector<std::pair<int, int>> back;
    there.reserve(edges.size());
    back.reserve(edges.size());
    for (int rank = 0; rank < int(index.size()); ++rank) {
        for (const int neighbor : neighbors(rank)) {
            there.emplace_back(rank, neighbor);
            back.emplace_back(neighbor, rank);
        }
    }
    std::sort(there.begin(), there.end());
    std::sort(back.begin(), back.end());
    return there == back;
}

Topology::Topology(Grid grid, int rank)
    : _structure(std::move(grid)) {
    const Grid& own = std::get<Grid>(_structure);
    _own.reserve(2 * std::size_t(own.dimensions()));
    for (int dimension = 0; dimension < own.dimensions(); ++dimension) {
        _own.push_back(own.neighbor(rank, dimension, -1));
        _own.push_back(own.neighbor(rank, dimension, 1));
    }
    _sources = _own;
    _destinations = _own;
}

Topology::Topology(Graph graph, int rank)
    : _structure(std::move(graph)) {
    const Graph& own = std::get<Graph>(_structure);
    _sources = own.neighbors(rank);
    _destinations = _sources;
    _has_neighborhoods = own.is_symmetric();
}

Topology::Topology(Adjacency adjacency) noexcept
    : _structure(std::move(adjacency)) {
    const Adjacency& own = std::get<Adjacency>(_structure);
    _sources = own.sources;
    _destinations = own.destinations;
}

int Topology::kind() const noexcept {
    return grid() != nullptr ? MPI_CART : (graph() != nullptr ? MPI_GRAPH : MPI_DIST_GRAPH);
}

} // namespace patchbay
