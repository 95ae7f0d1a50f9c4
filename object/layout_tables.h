// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/layout.h"

#include <cstdint>
#include <span>
#include <vector>

namespace patchbay {

// The tables of a layout, to which tabulate() appends.
struct LayoutTables {
    std::vector<std::int32_t>& offsets;
    std::vector<Layout::Place>& places;
};

// Appends the nodes of a sequence to `result`, with each run of many short loops over blocks replaced by a node with a
// table. What such a node takes, table included, is never more than the nodes that it replaces. May throw
// std::bad_alloc.
void tabulate(std::span<const Layout::Node> sequence, const LayoutTables& tables, std::vector<Layout::Node>& result);

// The same for the blocks of a recipe, as one table and without a node for each block. false: there are too few, or
// they do not fit one table, or many of them are a loop, or the recipe is not one of byte blocks (object/block_runs.h);
// then nothing is appended. May throw std::bad_alloc.
bool tabulate_blocks(const Recipe& recipe, const LayoutTables& tables, std::vector<Layout::Node>& result);

} // namespace patchbay
