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
// Both functions reduce the budget by the bytes that they have processed, and return false if they have not processed
// all of them. A sink that always processes as many bytes as its budget allows may also have
//   void bodies(const Layout::Node* nodes, const Layout::Node& loop, std::uintptr_t address, MPI_Count count);
// which processes `count` whole iterations of a loop, the first of them at that address, within the budget.
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

template <class Sink>
bool walk_node(const Layout::Node* nodes, const Layout::Node& node, std::uintptr_t base, std::size_t skip, Sink& sink) {
    if (node.is_block()) {
        return walk_blocks(node, base, skip, sink);
    }
    MPI_Count iteration = 0;
    std::uintptr_t address = base + static_cast<std::uintptr_t>(node.displacement);
    const Layout::Node* const first = nodes + node.first_child;
    const Layout::Node* const last = first + node.children;
    const Layout::Node* child = first;
    if (skip > 0) {
        iteration = static_cast<MPI_Count>(skip / node.bytes);
        address += static_cast<std::uintptr_t>(iteration) * static_cast<std::uintptr_t>(node.stride);
        skip %= node.bytes;
        child = std::upper_bound(first + 1, last, skip, [](std::size_t value, const Layout::Node& n) {
            return value < n.before;
        }) - 1;
        skip -= child->before;
    }
    for (; iteration < node.count; ++iteration) {
        if constexpr (requires { sink.bodies(nodes, node, address, iteration); }) {
            if (child == first && skip == 0 && sink.budget >= node.bytes) {
                const auto affordable = static_cast<MPI_Count>(sink.budget / node.bytes);
                const MPI_Count whole = std::min(node.count - iteration, affordable);
                sink.bodies(nodes, node, address, whole);
                iteration += whole;
                address += static_cast<std::uintptr_t>(whole) * static_cast<std::uintptr_t>(node.stride);
                if (iteration == node.count) {
                    return true;
                }
            }
        }
        for (; child != last; ++child) {
            if (sink.budget == 0 || !walk_node(nodes, *child, address, skip, sink)) {
                return false;
            }
            skip = 0;
        }
        child = first;
        address += static_cast<std::uintptr_t>(node.stride);
    }
    return true;
}

} // namespace patchbay
