// SPDX-License-Identifier: BSD-3-Clause
#include "object/layout.h"

#include <algorithm>

namespace patchbay {

using Node = Layout::Node;

std::size_t Layout::memory() const noexcept {
    return sizeof *this + _nodes.capacity() * sizeof(Node) + _items.capacity() * sizeof(Items) +
        _offsets.capacity() * sizeof(std::int32_t) + _places.capacity() * sizeof(Place);
}

// A body precedes the nodes that repeat it, so that one pass over the nodes suffices.
void Layout::count_items() {
    _items.resize(_nodes.size());
    const auto count_sequence = [this](std::uint32_t first, std::uint32_t count) {
        std::uint64_t sum = 0;
        for (std::uint32_t i = first; i < first + count; ++i) {
            _items[i].before = sum;
            sum += _items[i].items * static_cast<std::uint64_t>(_nodes[i].count);
        }
        return sum;
    };
    for (std::size_t i = 0; i < _nodes.size(); ++i) {
        const Node& node = _nodes[i];
        _items[i].items = node.is_block() ? node.bytes / basic_type(node.basic).size
                                          : count_sequence(node.first_child, node.children);
    }
    _item_count = count_sequence(_first_root, _roots);
}

void Layout::count_blocks() {
    if (_nodes.size() == _roots) { // no node is part of another one
        for (const Node& node : _nodes) {
            _blocks += (node.is_block() ? 1 : std::uint64_t(node.children)) * static_cast<std::uint64_t>(node.count);
        }
        return;
    }
    std::vector<std::uint64_t> of_iteration(_nodes.size());
    const auto count_sequence = [&](std::uint32_t first, std::uint32_t count) {
        std::uint64_t sum = 0;
        for (std::uint32_t i = first; i < first + count; ++i) {
            sum += of_iteration[i] * static_cast<std::uint64_t>(_nodes[i].count);
        }
        return sum;
    };
    for (std::size_t i = 0; i < _nodes.size(); ++i) {
        const Node& node = _nodes[i];
        of_iteration[i] = node.is_block() ? 1
            : node.body == Body::sequence ? count_sequence(node.first_child, node.children)
                                          : node.children;
    }
    _blocks = count_sequence(_first_root, _roots);
}

std::uint32_t Layout::child_holding_byte(std::uint32_t first, std::uint32_t count, std::size_t byte) const noexcept {
    const Node* begin = _nodes.data() + first;
    const Node* after = std::upper_bound(
        begin + 1, begin + count, byte, [](std::size_t value, const Node& node) { return value < node.before; });
    return first + static_cast<std::uint32_t>(after - begin) - 1;
}

std::uint32_t Layout::child_holding_item(std::uint32_t first, std::uint32_t count, std::uint64_t item) const noexcept {
    const Items* begin = _items.data() + first;
    const Items* after = std::upper_bound(
        begin + 1, begin + count, item, [](std::uint64_t value, const Items& items) { return value < items.before; });
    return first + static_cast<std::uint32_t>(after - begin) - 1;
}

std::uint64_t Layout::items_in(std::size_t bytes, std::size_t* rest) const noexcept {
    *rest = 0;
    if (bytes >= _size) {
        return _item_count;
    }
    std::uint64_t items = 0;
    std::uint32_t first = _first_root;
    std::uint32_t count = _roots;
    while (bytes > 0) {
        const std::uint32_t child = child_holding_byte(first, count, bytes);
        const Node& node = _nodes[child];
        bytes -= node.before;
        items += _items[child].before + bytes / node.bytes * _items[child].items;
        bytes %= node.bytes;
        if (node.is_block()) {
            const std::size_t unit = basic_type(node.basic).size;
            *rest = bytes % unit;
            return items + bytes / unit;
        }
        first = node.first_child;
        count = node.children;
    }
    return items;
}

std::size_t Layout::bytes_of(std::uint64_t items) const noexcept {
    if (items >= _item_count) {
        return _size;
    }
    std::size_t bytes = 0;
    std::uint32_t first = _first_root;
    std::uint32_t count = _roots;
    while (items > 0) {
        const std::uint32_t child = child_holding_item(first, count, items);
        const Node& node = _nodes[child];
        const std::uint64_t per_iteration = _items[child].items;
        items -= _items[child].before;
        bytes += node.before + items / per_iteration * node.bytes;
        items %= per_iteration;
        if (node.is_block()) {
            return bytes + items * basic_type(node.basic).size;
        }
        first = node.first_child;
        count = node.children;
    }
    return bytes;
}

} // namespace patchbay
