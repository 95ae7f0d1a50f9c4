// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <vector>

namespace patchbay {

class Grid;

// Divides a grid into equal tiles, these into smaller ones and so on: sizes[0] is the size of the grid, and sizes[i]
// the number of processes of the tiles of level i, of which each divides the one before. The tiles have as few edges
// between each other as possible. Returns the ranks in the order of the tiles; empty: the dimensions have no such
// divisors.
std::vector<int> ranks_by_tiles(const Grid& grid, std::span<const int> sizes);

} // namespace patchbay
