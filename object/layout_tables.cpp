// SPDX-License-Identifier: BSD-3-Clause
#include "object/layout_tables.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace patchbay {
namespace {

using Node = Layout::Node;

// A loop of more blocks than this is worth a node. A node takes as much memory as seven entries of a table.
constexpr MPI_Count most_of_a_node = 7;
// A sequence of fewer blocks is copied faster member by member, over many iterations of the loop around it at a time.
constexpr std::size_t least_of_equal = 8;
constexpr std::size_t least_of_various = 17;

// Nodes that follow each other in a sequence and whose blocks fit one table.
struct Run {
    std::size_t end = 0; // index of the node after it
    std::size_t blocks = 0;
    std::size_t bytes = 0;
    std::size_t unit = 0; // the greatest size of which each block is a multiple

    // A few blocks that are merged from neighbours do not make the others a table of various sizes.
    bool equal() const { return bytes / unit <= blocks + blocks / 4; }
    bool worthwhile() const { return blocks >= least_of_various || (blocks >= least_of_equal && equal()); }
};

bool fits_table(const Node& node, MPI_Aint base, std::size_t bytes_before) {
    constexpr MPI_Aint lowest = std::numeric_limits<std::int32_t>::min();
    constexpr MPI_Aint highest = std::numeric_limits<std::int32_t>::max();
    MPI_Aint first = 0, across = 0, last = 0;
    return node.is_block() && node.count <= most_of_a_node && node.bytes <= std::size_t(highest) &&
        bytes_before + node.total() <= std::numeric_limits<std::uint32_t>::max() &&
        !__builtin_sub_overflow(node.displacement, base, &first) &&
        !__builtin_mul_overflow(node.stride, node.count - 1, &across) &&
        !__builtin_add_overflow(first, across, &last) && std::min(first, last) >= lowest &&
        std::max(first, last) <= highest - MPI_Aint(node.bytes);
}

Run run_at(const std::vector<Node>& sequence, std::size_t first) {
    Run run;
    const MPI_Aint base = sequence[first].displacement;
    for (run.end = first; run.end < sequence.size(); ++run.end) {
        const Node& node = sequence[run.end];
        if (!fits_table(node, base, run.bytes)) {
            break;
        }
        run.blocks += static_cast<std::size_t>(node.count);
        run.bytes += node.total();
        run.unit = node.bytes == run.unit ? run.unit : std::gcd(run.unit, node.bytes);
    }
    return run;
}

// Calls visit(offset, bytes) for each block of a run; offsets are relative to its first block.
template <class Visit>
void for_each_block(const Node* first, const Node* last, Visit&& visit) {
    const MPI_Aint base = first->displacement;
    for (const Node* node = first; node != last; ++node) {
        const MPI_Aint offset = node->displacement - base;
        for (MPI_Count i = 0; i < node->count; ++i) {
            visit(offset + i * node->stride, node->bytes);
        }
    }
}

Node with_offsets(const Node* first, const Node* last, const Run& run, std::vector<std::int32_t>& offsets) {
    Node node;
    node.first_child = static_cast<std::uint32_t>(offsets.size());
    node.body = Layout::Body::equal;
    offsets.reserve(offsets.size() + run.bytes / run.unit);
    for_each_block(first, last, [&](MPI_Aint offset, std::size_t bytes) {
        for (std::size_t at = 0; at < bytes; at += run.unit) {
            offsets.push_back(static_cast<std::int32_t>(offset + static_cast<MPI_Aint>(at)));
        }
    });
    node.children = static_cast<std::uint32_t>(offsets.size() - node.first_child);
    return node;
}

Node with_places(const Node* first, const Node* last, std::size_t blocks, std::vector<Layout::Place>& places) {
    Node node;
    node.first_child = static_cast<std::uint32_t>(places.size());
    node.body = Layout::Body::various;
    std::uint32_t before = 0;
    places.reserve(places.size() + blocks + 1);
    for_each_block(first, last, [&](MPI_Aint offset, std::size_t bytes) {
        places.push_back({static_cast<std::int32_t>(offset), before});
        before += static_cast<std::uint32_t>(bytes);
    });
    node.children = static_cast<std::uint32_t>(places.size() - node.first_child);
    places.push_back({0, before});
    return node;
}

} // namespace

std::vector<Node> tabulate(std::vector<Node>&& sequence, const LayoutTables& tables) {
    if (sequence.size() == 1) { // its blocks are too few for a table, or a loop of too many
        return std::move(sequence);
    }
    std::vector<Node> result;
    for (std::size_t i = 0; i < sequence.size();) {
        const Run run = run_at(sequence, i);
        if (!run.worthwhile()) {
            // The first node of the run may be what does not fit the others.
            result.push_back(sequence[i++]);
            continue;
        }
        const Node* const first = sequence.data() + i;
        const Node* const last = sequence.data() + run.end;
        Node node = run.equal() ? with_offsets(first, last, run, tables.offsets)
                                : with_places(first, last, run.blocks, tables.places);
        node.displacement = first->displacement;
        node.count = 1;
        node.bytes = run.bytes;
        result.push_back(node);
        i = run.end;
    }
    sequence.clear();
    return result;
}

} // namespace patchbay
