// SPDX-License-Identifier: BSD-3-Clause
#include "object/layout_tables.h"

#include "object/block_runs.h"

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

// Blocks that fit one table.
struct Run {
    std::size_t blocks = 0;
    std::size_t bytes = 0;
    std::size_t unit = 0; // the greatest size of which each block is a multiple

    // A few blocks that are merged from neighbours do not make the others a table of various sizes.
    bool equal() const { return bytes / unit <= blocks + blocks / 4; }
    bool worthwhile() const { return blocks >= least_of_various || (blocks >= least_of_equal && equal()); }
};

constexpr MPI_Aint lowest_offset = std::numeric_limits<std::int32_t>::min();
constexpr MPI_Aint highest_offset = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t most_bytes = std::numeric_limits<std::uint32_t>::max();

bool fits_table(const Node& node, MPI_Aint base, std::size_t bytes_before) {
    MPI_Aint first = 0, across = 0, last = 0;
    return node.is_block() && node.count <= most_of_a_node && node.bytes <= std::size_t(highest_offset) &&
        bytes_before + node.total() <= most_bytes && !__builtin_sub_overflow(node.displacement, base, &first) &&
        !__builtin_mul_overflow(node.stride, node.count - 1, &across) &&
        !__builtin_add_overflow(first, across, &last) && std::min(first, last) >= lowest_offset &&
        std::max(first, last) <= highest_offset - MPI_Aint(node.bytes);
}

// The run at the beginning of a sequence; *end: the number of its nodes.
Run first_run(std::span<const Node> sequence, std::size_t* end) {
    Run run;
    const MPI_Aint base = sequence.front().displacement;
    for (*end = 0; *end < sequence.size(); ++*end) {
        const Node& node = sequence[*end];
        if (!fits_table(node, base, run.bytes)) {
            break;
        }
        run.blocks += static_cast<std::size_t>(node.count);
        run.bytes += node.total();
        run.unit = node.bytes == run.unit ? run.unit : std::gcd(run.unit, node.bytes);
    }
    return run;
}

// Calls visit(displacement, bytes) for each block of the nodes of a run.
template <class Visit>
void for_each_block(std::span<const Node> nodes, Visit&& visit) {
    for (const Node& node : nodes) {
        for (MPI_Count i = 0; i < node.count; ++i) {
            visit(node.displacement + i * node.stride, node.bytes);
        }
    }
}

// Before `more` entries, which may be one table of many.
template <class T>
void make_room(std::vector<T>& table, std::size_t more) {
    if (table.capacity() - table.size() < more) {
        table.reserve(std::max(table.size() + more, table.empty() ? 0 : 2 * table.capacity()));
    }
}

// `for_each(visit)` calls visit(displacement, bytes) for each block; offsets are relative to `base`.
template <class ForEach>
Node with_offsets(MPI_Aint base, const Run& run, std::vector<std::int32_t>& offsets, const ForEach& for_each) {
    Node node;
    node.first_child = static_cast<std::uint32_t>(offsets.size());
    node.body = Layout::Body::equal;
    make_room(offsets, run.bytes / run.unit);
    for_each([&](MPI_Aint displacement, std::size_t bytes) {
        for (std::size_t at = 0; at < bytes; at += run.unit) {
            offsets.push_back(static_cast<std::int32_t>(displacement - base + static_cast<MPI_Aint>(at)));
        }
    });
    node.children = static_cast<std::uint32_t>(offsets.size() - node.first_child);
    return node;
}

template <class ForEach>
Node with_places(MPI_Aint base, const Run& run, std::vector<Layout::Place>& places, const ForEach& for_each) {
    Node node;
    node.first_child = static_cast<std::uint32_t>(places.size());
    node.body = Layout::Body::various;
    std::uint32_t before = 0;
    make_room(places, run.blocks + 1);
    for_each([&](MPI_Aint displacement, std::size_t bytes) {
        places.push_back({static_cast<std::int32_t>(displacement - base), before});
        before += static_cast<std::uint32_t>(bytes);
    });
    node.children = static_cast<std::uint32_t>(places.size() - node.first_child);
    places.push_back({0, before});
    return node;
}

template <class ForEach>
Node table_node(MPI_Aint base, const Run& run, const LayoutTables& tables, const ForEach& for_each) {
    Node node = run.equal() ? with_offsets(base, run, tables.offsets, for_each)
                            : with_places(base, run, tables.places, for_each);
    node.displacement = base;
    node.count = 1;
    node.bytes = run.bytes;
    return node;
}

// Looks at blocks one by one: whether they fit one table, and no long loop is among them.
struct BlockScan {
    Run run;
    MPI_Aint base = 0;          // where the first one is
    std::size_t least_unit = 1; // of which each block is known to be a multiple

    bool add(MPI_Aint displacement, std::size_t bytes) {
        if (run.blocks == 0) {
            base = _last = displacement;
            run.unit = bytes;
        }
        const MPI_Aint offset = displacement - base;
        const MPI_Aint stride = displacement - _last;
        _strides = stride == _stride && bytes == _bytes ? _strides + 1 : 1;
        _last = displacement;
        _stride = stride;
        _bytes = bytes;
        ++run.blocks;
        run.bytes += bytes;
        if (bytes != run.unit && run.unit != least_unit) {
            run.unit = std::gcd(run.unit, bytes);
        }
        return bytes <= std::size_t(highest_offset) && offset >= lowest_offset &&
            offset <= highest_offset - MPI_Aint(bytes) && run.bytes <= most_bytes && _strides < most_of_a_node;
    }

private:
    MPI_Aint _last = 0;
    MPI_Aint _stride = 0;
    std::size_t _bytes = 0;
    MPI_Count _strides = 0; // so many equal ones in a row
};

} // namespace

void tabulate(std::span<const Node> sequence, const LayoutTables& tables, std::vector<Node>& result) {
    while (!sequence.empty()) {
        std::size_t end = 0;
        const Run run = first_run(sequence, &end);
        if (!run.worthwhile()) {
            // The first node of the run may be what does not fit the others.
            result.push_back(sequence.front());
            sequence = sequence.subspan(1);
            continue;
        }
        const std::span<const Node> nodes = sequence.first(end);
        result.push_back(table_node(
            nodes.front().displacement, run, tables, [&](const auto& visit) { for_each_block(nodes, visit); }));
        sequence = sequence.subspan(end);
    }
}

bool tabulate_blocks(const Recipe& recipe, const LayoutTables& tables, std::vector<Node>& result) {
    if (recipe.pieces() < least_of_various) {
        return false;
    }
    return with_blocks(recipe, [&](const auto& blocks) {
        BlockScan scan;
        if (recipe.types.size() == 1) {
            scan.least_unit = static_cast<std::size_t>(recipe.types.front()->size);
        }
        const auto look = [&](MPI_Aint displacement, std::size_t bytes) { return scan.add(displacement, bytes); };
        if (!for_each_run(blocks, look) || !scan.run.worthwhile()) {
            return false;
        }
        result.push_back(table_node(scan.base, scan.run, tables, [&](const auto& visit) {
            for_each_run(blocks, [&](MPI_Aint displacement, std::size_t bytes) {
                visit(displacement, bytes);
                return true;
            });
        }));
        return true;
    });
}

} // namespace patchbay
