// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/layout.h"

#include <cstdint>
#include <vector>

namespace patchbay {

// The tables of a layout, to which tabulate() appends.
struct LayoutTables {
    std::vector<std::int32_t>& offsets;
    std::vector<Layout::Place>& places;
};

// Returns the nodes of a sequence with each run of many short loops over blocks replaced by a node with a table. What
// such a node takes, table included, is never more than the nodes that it replaces. May throw std::bad_alloc.
std::vector<Layout::Node> tabulate(std::vector<Layout::Node>&& sequence, const LayoutTables& tables);

} // namespace patchbay
