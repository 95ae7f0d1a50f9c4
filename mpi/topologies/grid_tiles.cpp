// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/topologies/grid_tiles.h"

#include "object/topology.h"

#include <cstddef>
#include <cstdint>

namespace patchbay {

namespace {

// Chooses into how many parts each dimension of a box is divided.
class Division {
public:
    Division(const Grid& grid, const std::vector<int>& box, int parts)
        : _grid(grid),
          _box(box),
          _parts(box.size(), 1) {
        choose(0, parts, 0);
    }
    // Empty: there is none.
    const std::vector<int>& best() const noexcept { return _best; }

private:
    // `rest`: the number of parts for the dimensions from that one on. `cut`: the edges that the others cut.
    void choose(std::size_t dimension, int rest, std::int64_t cut) {
        if (!_best.empty() && cut >= _least) {
            return;
        }
        if (dimension == _box.size()) {
            if (rest == 1) {
                _best = _parts;
                _least = cut;
            }
            return;
        }
        for (int parts = 1; parts <= rest && parts <= _box[dimension]; ++parts) {
            if (rest % parts == 0 && _box[dimension] % parts == 0) {
                _parts[dimension] = parts;
                choose(dimension + 1, rest / parts, cut + edges_cut(dimension, parts));
            }
        }
    }

    std::int64_t edges_cut(std::size_t dimension, int parts) const noexcept {
        std::int64_t area = 1;
        for (std::size_t other = 0; other < _box.size(); ++other) {
            area *= other == dimension ? 1 : _box[other];
        }
        const bool closed = _grid.is_periodic(int(dimension)) && _box[dimension] == _grid.sizes()[dimension];
        return area * (closed && parts > 1 ? parts : parts - 1);
    }

    const Grid& _grid;
    const std::vector<int>& _box;
    std::vector<int> _parts;
    std::vector<int> _best;
    std::int64_t _least = 0;
};

// Goes to the next element of a box, in row-major order. false: there is none.
bool advance(std::vector<int>& position, const std::vector<int>& box) noexcept {
    for (std::size_t dimension = box.size(); dimension-- > 0;) {
        if (++position[dimension] < box[dimension]) {
            return true;
        }
        position[dimension] = 0;
    }
    return false;
}

// Appends the ranks of a box that begins at `origin`.
bool append(const Grid& grid, std::span<const int> sizes, const std::vector<int>& origin, const std::vector<int>& box,
    std::vector<int>& ranks) {
    const bool smallest = sizes.size() == 1;
    std::vector<int> tile(box.size(), 1);
    std::vector<int> parts = box;
    if (!smallest) {
        parts = Division(grid, box, sizes[0] / sizes[1]).best();
        if (parts.empty()) {
            return false;
        }
        for (std::size_t dimension = 0; dimension < box.size(); ++dimension) {
            tile[dimension] = box[dimension] / parts[dimension];
        }
    }
    std::vector<int> position(box.size(), 0);
    std::vector<int> begin(box.size());
    do {
        for (std::size_t dimension = 0; dimension < box.size(); ++dimension) {
            begin[dimension] = origin[dimension] + position[dimension] * tile[dimension];
        }
        if (smallest) {
            ranks.push_back(grid.rank_of(begin));
        } else if (!append(grid, sizes.subspan(1), begin, tile, ranks)) {
            return false;
        }
    } while (advance(position, parts));
    return true;
}

} // namespace

std::vector<int> ranks_by_tiles(const Grid& grid, std::span<const int> sizes) {
    std::vector<int> ranks;
    ranks.reserve(std::size_t(grid.size()));
    const std::vector<int> origin(std::size_t(grid.dimensions()), 0);
    const std::vector<int> box(grid.sizes().begin(), grid.sizes().end());
    return append(grid, sizes, origin, box, ranks) ? ranks : std::vector<int>();
}

} // namespace patchbay
