// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/topologies/reorder.h"

#include "mpi/topologies/grid_tiles.h"
#include "object/topology.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace patchbay {

namespace {

// A run of processes, in the order of the hardware.
using Run = std::span<const int>;

// The end of the processes at the front of the run that share the hardware of that level.
std::size_t end_of_shared(const std::vector<Place>& places, Run run, std::size_t level) {
    const auto resource = [&](int process) { return places[std::size_t(process)].resources[level]; };
    std::size_t end = 1;
    while (end < run.size() && resource(run[end]) == resource(run[0])) {
        ++end;
    }
    return end;
}

// Grows groups of ranks that have many edges with each other: as many ranks for each piece of hardware as it has
// processes, first for the large pieces, then within each of these.
class GrownGroups {
public:
    GrownGroups(std::span<const Edge> edges, const std::vector<Place>& places, const std::vector<int>& order)
        : _places(places),
          _neighbors(places.size()),
          _group(places.size(), 0),
          _gain(places.size(), 0),
          _hosts(places.size()) {
        for (const Edge& edge : edges) {
            if (edge.from != edge.to) {
                _neighbors[std::size_t(edge.from)].emplace_back(edge.to, edge.weight);
                _neighbors[std::size_t(edge.to)].emplace_back(edge.from, edge.weight);
            }
        }
        std::vector<int> ranks(places.size());
        std::iota(ranks.begin(), ranks.end(), 0);
        assign(std::move(ranks), order, 0);
    }
    std::vector<int> take() noexcept { return std::move(_hosts); }

private:
    // Gives the ranks, which are as many, to the processes of the run.
    void assign(std::vector<int> ranks, Run run, std::size_t level) {
        if (level == Place::levels || run.size() == 1) {
            for (std::size_t i = 0; i < run.size(); ++i) {
                _hosts[std::size_t(ranks[i])] = run[i];
            }
            return;
        }
        while (!run.empty()) {
            const std::size_t size = end_of_shared(_places, run, level);
            assign(size == run.size() ? std::exchange(ranks, {}) : grow(ranks, size), run.first(size), level + 1);
            run = run.subspan(size);
        }
    }

    // Removes a group of that size from the ranks. Both are in ascending order.
    std::vector<int> grow(std::vector<int>& ranks, std::size_t size) {
        const int pool = ++_last_group;
        for (const int rank : ranks) {
            _group[std::size_t(rank)] = pool;
            _gain[std::size_t(rank)] = 0;
        }
        std::vector<int> chosen;
        std::vector<int> reached; // ranks of the pool with an edge to a chosen one, in the order of the first such edge
        while (chosen.size() < size) {
            const int rank = reached.empty() ? least_connected(ranks, pool) : best_of(reached);
            chosen.push_back(rank);
            _group[std::size_t(rank)] = 0;
            for (const auto& [neighbor, weight] : _neighbors[std::size_t(rank)]) {
                if (_group[std::size_t(neighbor)] != pool) {
                    continue;
                }
                if (_gain[std::size_t(neighbor)] == 0) {
                    reached.push_back(neighbor);
                }
                _gain[std::size_t(neighbor)] += std::int64_t(weight) + 1; // an edge of weight 0 is one all the same
            }
        }
        std::erase_if(ranks, [&](int rank) { return _group[std::size_t(rank)] != pool; });
        std::sort(chosen.begin(), chosen.end());
        return chosen;
    }

    // Removes the one with the heaviest edges to the group; of several ones, that which was reached first, so that the
    // group grows evenly.
    int best_of(std::vector<int>& reached) const {
        const auto best = std::max_element(reached.begin(), reached.end(),
            [&](int a, int b) { return _gain[std::size_t(a)] < _gain[std::size_t(b)]; });
        const int rank = *best;
        reached.erase(best);
        return rank;
    }

    // A rank at the border of the pool, with which a group begins.
    int least_connected(const std::vector<int>& ranks, int pool) const {
        int best = -1;
        std::int64_t least = 0;
        for (const int rank : ranks) {
            if (_group[std::size_t(rank)] != pool) {
                continue;
            }
            std::int64_t weights = 0;
            for (const auto& [neighbor, weight] : _neighbors[std::size_t(rank)]) {
                weights += _group[std::size_t(neighbor)] == pool ? std::int64_t(weight) + 1 : 0;
            }
            if (best == -1 || weights < least) {
                best = rank;
                least = weights;
            }
        }
        return best;
    }

    const std::vector<Place>& _places;
    std::vector<std::vector<std::pair<int, int>>> _neighbors; // of each rank, with the weight
    std::vector<int> _group;                                  // the pool that a rank is in, or 0
    std::vector<std::int64_t> _gain;                          // the weight of a rank's edges to the group that grows
    std::vector<int> _hosts;
    int _last_group = 0;
};

// The sizes of the pieces of hardware, from large to small, where the pieces of each level have equally many processes.
// Empty: they have not.
std::vector<int> equal_sizes(const std::vector<Place>& places, const std::vector<int>& order) {
    std::vector<int> sizes = {int(places.size())};
    for (std::size_t level = 0; level < Place::levels; ++level) {
        const auto whole = std::size_t(sizes.back());
        std::size_t part = 0;
        for (std::size_t begin = 0; begin < order.size();) {
            const std::size_t rest = whole - begin % whole; // what is left of the piece of the level above
            const std::size_t size = end_of_shared(places, Run(order).subspan(begin, rest), level);
            if (part != 0 && size != part) {
                return {};
            }
            part = size;
            begin += size;
        }
        if (part != whole) {
            sizes.push_back(int(part));
        }
    }
    return sizes;
}

} // namespace

std::vector<Edge> edges_of(const Grid& grid) {
    std::vector<Edge> edges;
    edges.reserve(std::size_t(grid.size()) * std::size_t(grid.dimensions()));
    for (int rank = 0; rank < grid.size(); ++rank) {
        for (int dimension = 0; dimension < grid.dimensions(); ++dimension) {
            const int above = grid.neighbor(rank, dimension, 1);
            if (above != MPI_PROC_NULL && above != rank) {
                edges.push_back({rank, above, 1});
            }
        }
    }
    return edges;
}

std::int64_t cost(
    std::span<const Edge> edges, const std::vector<Place>& places, const std::vector<int>& hosts) noexcept {
    std::int64_t sum = 0;
    for (const Edge& edge : edges) {
        const auto from = std::size_t(hosts[std::size_t(edge.from)]);
        const auto to = std::size_t(hosts[std::size_t(edge.to)]);
        sum += edge.weight * distance(places[from], places[to]);
    }
    return sum;
}

std::vector<int> reorder(std::span<const Edge> edges, const Grid* grid, const std::vector<Place>& places) {
    std::vector<int> identity(places.size());
    std::iota(identity.begin(), identity.end(), 0);
    std::int64_t least = cost(edges, places, identity);
    std::vector<int> best;
    const auto consider = [&](std::vector<int> hosts) {
        if (const std::int64_t sum = cost(edges, places, hosts); sum < least) {
            least = sum;
            best = std::move(hosts);
        }
    };
    const std::vector<int> order = sorted_by_hardware(places);
    consider(order);
    if (const auto sizes = grid != nullptr ? equal_sizes(places, order) : std::vector<int>(); !sizes.empty()) {
        if (const std::vector<int> ranks = ranks_by_tiles(*grid, sizes); !ranks.empty()) {
            std::vector<int> hosts(places.size());
            for (std::size_t i = 0; i < ranks.size(); ++i) {
                hosts[std::size_t(ranks[i])] = order[i];
            }
            consider(std::move(hosts));
        }
    }
    consider(GrownGroups(edges, places, order).take());
    return best;
}

} // namespace patchbay
