// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/layout.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace patchbay {

// Visits the blocks of a layout in order, from a byte position on, until the sink's budget is used up. There is no
// state between two calls: division and binary search find the position, and the recursion is on the stack of the call,
// so that nothing is allocated, however deeply the type is nested.
//
// A sink has
//   std::size_t budget;                                    bytes that it still accepts
//   bool part(std::uintptr_t address, std::size_t size, const Layout::Node&);     size <= budget; part of one block
//   bool run(std::uintptr_t address, MPI_Aint stride, std::size_t count, const Layout::Node&);  whole blocks
//   bool table(std::uintptr_t address, std::size_t first, std::size_t count, const Layout::Node&);  whole blocks of a
//                                                          table, in an iteration of its node that is at that address
// They reduce the budget by the bytes that they have processed, and return false if they have not processed all of
// them. A sink of the typed view needs no table(). A sink that always processes as many bytes as its budget allows may
// also have
//   void whole(const Layout::Node&, std::uintptr_t address, std::size_t count);
// which processes `count` whole iterations of a node, the first of them at that address, within the budget.

// A block of a node with a table: its displacement, and the bytes of the iteration that precede its begin and its end.
struct TableBlock {
    MPI_Aint offset;
    std::size_t begin;
    std::size_t end;
};

inline TableBlock table_block(const Layout& layout, const Layout::Node& node, std::size_t i) noexcept {
    if (node.body == Layout::Body::equal) {
        const std::size_t size = node.bytes / node.children;
        return {layout.offsets()[node.first_child + i], i * size, i * size + size};
    }
    const Layout::Place* const place = layout.places() + node.first_child + i;
    return {place->offset, place[0].before, place[1].before};
}

// The block of the table that holds this byte of an iteration.
inline std::size_t table_index(const Layout& layout, const Layout::Node& node, std::size_t byte) noexcept {
    if (node.body == Layout::Body::equal) {
        return byte / (node.bytes / node.children);
    }
    const Layout::Place* const first = layout.places() + node.first_child;
    const Layout::Place* const after = std::upper_bound(first + 1, first + node.children, byte,
        [](std::size_t value, const Layout::Place& place) { return value < place.before; });
    return static_cast<std::size_t>(after - first) - 1;
}

template <class Sink>
bool walk_blocks(const Layout::Node& node, std::uintptr_t base, std::size_t skip, Sink& sink) {
    std::uintptr_t address = base + static_cast<std::uintptr_t>(node.displacement);
    const auto stride = static_cast<std::uintptr_t>(node.stride);
    auto left = static_cast<std::size_t>(node.count);
    if (skip > 0) {
        const std::size_t first = skip / node.bytes;
        const std::size_t offset = skip % node.bytes;
        address += first * stride;
        left -= first;
        if (offset > 0) {
            if (!sink.part(address + offset, std::min(node.bytes - offset, sink.budget), node)) {
                return false;
            }
            address += stride;
            --left;
        }
    }
    const std::size_t whole = left * node.bytes <= sink.budget ? left : sink.budget / node.bytes;
    if (whole > 0 && !sink.run(address, node.stride, whole, node)) {
        return false;
    }
    if (whole < left) {
        if (sink.budget > 0) {
            sink.part(address + whole * stride, sink.budget, node);
        }
        return false;
    }
    return true;
}

// Visits what is left of one iteration of a node with a table, or as much of it as the budget allows.
template <class Sink>
bool walk_table(const Layout& layout, const Layout::Node& node, std::uintptr_t address, std::size_t skip, Sink& sink) {
    const auto at = [address](const TableBlock& block) { return address + static_cast<std::uintptr_t>(block.offset); };
    std::size_t i = table_index(layout, node, skip);
    const TableBlock first = table_block(layout, node, i);
    if (skip > first.begin) {
        const std::size_t inside = skip - first.begin;
        const std::size_t size = std::min(first.end - skip, sink.budget);
        if (!sink.part(at(first) + inside, size, node) || skip + size < first.end) {
            return false;
        }
        skip = first.end;
        ++i;
    }
    const bool all = node.bytes - skip <= sink.budget;
    const std::size_t end = all ? node.children : table_index(layout, node, skip + sink.budget);
    if (i < end && !sink.table(address, i, end - i, node)) {
        return false;
    }
    if (!all && sink.budget > 0) {
        sink.part(at(table_block(layout, node, end)), sink.budget, node);
    }
    return all;
}

template <class Sink>
bool walk_node(const Layout& layout, const Layout::Node& node, std::uintptr_t base, std::size_t skip, Sink& sink);

// Visits what is left of one iteration of a sequence, or as much of it as the budget allows.
template <class Sink>
bool walk_sequence(
    const Layout& layout, const Layout::Node& node, std::uintptr_t address, std::size_t skip, Sink& sink) {
    const Layout::Node* const first = layout.nodes() + node.first_child;
    const Layout::Node* const last = first + node.children;
    const Layout::Node* child = first;
    if (skip > 0) {
        child = std::upper_bound(first + 1, last, skip, [](std::size_t value, const Layout::Node& n) {
            return value < n.before;
        }) - 1;
        skip -= child->before;
    }
    for (; child != last; ++child) {
        if (sink.budget == 0 || !walk_node(layout, *child, address, skip, sink)) {
            return false;
        }
        skip = 0;
    }
    return true;
}

template <class Sink>
bool walk_node(const Layout& layout, const Layout::Node& node, std::uintptr_t base, std::size_t skip, Sink& sink) {
    if (node.is_block()) {
        return walk_blocks(node, base, skip, sink);
    }
    const auto stride = static_cast<std::uintptr_t>(node.stride);
    std::uintptr_t address = base + static_cast<std::uintptr_t>(node.displacement);
    auto left = static_cast<std::size_t>(node.count);
    if (skip > 0) {
        const std::size_t iteration = skip / node.bytes;
        address += iteration * stride;
        left -= iteration;
        skip %= node.bytes;
    }
    while (left > 0) {
        if constexpr (requires { sink.whole(node, address, left); }) {
            if (skip == 0 && sink.budget >= node.bytes) {
                const std::size_t whole = std::min(left, sink.budget / node.bytes);
                sink.whole(node, address, whole);
                left -= whole;
                address += whole * stride;
                continue;
            }
        }
        if (sink.budget == 0) {
            return false;
        }
        bool all = true;
        if constexpr (requires { sink.table(address, skip, skip, node); }) {
            all = node.body == Layout::Body::sequence ? walk_sequence(layout, node, address, skip, sink)
                                                      : walk_table(layout, node, address, skip, sink);
        } else {
            all = walk_sequence(layout, node, address, skip, sink);
        }
        if (!all) {
            return false;
        }
        skip = 0;
        --left;
        address += stride;
    }
    return true;
}

} // namespace patchbay
