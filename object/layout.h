// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/datatype_basic.h"
#include "object/recipe.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

// The displacements of the data of one element, in the order of the typemap, as nested loops over blocks. The size of a
// flat list of blocks would be the product of all repetitions of nested constructors. The size of nested loops, whose
// bodies are shared, is the sum of the constructors' arguments. A seek takes one division per loop and one binary
// search per body.
//
// Many blocks at irregular displacements, as of an indexed type, are a table of numbers of 32 bits in place of a node
// each, because what limits their copy is how fast the displacements come from memory. Blocks that lie too far from
// each other for such a table remain nodes. Only the view in bytes has tables.
class Layout {
public:
    // What one iteration of a node consists of.
    enum class Body : std::uint8_t {
        block,    // one block of bytes
        sequence, // `children` nodes, from nodes()[first_child] on, with displacements relative to the iteration
        equal,    // `children` blocks of one size, at offsets()[first_child] and so on, relative to the iteration
        various,  // `children` blocks, at places()[first_child] and so on, with one more entry as their end
    };
    // A block of a table: `before` bytes of data precede it in the iteration. Its size is the difference to the next.
    struct Place {
        std::int32_t offset = 0;
        std::uint32_t before = 0;
    };
    // A loop of `count` iterations at displacement, displacement + stride, ...
    struct Node {
        MPI_Aint displacement = 0; // of the first iteration, relative to the iteration that the node is part of
        MPI_Aint stride = 0;
        MPI_Count count = 0;
        std::size_t bytes = 0;  // bytes of data in one iteration
        std::size_t before = 0; // bytes of data in the nodes that precede it in the same sequence
        std::uint32_t first_child = 0;
        std::uint32_t children = 0;
        BasicIndex basic = 0; // the basic type of a block of the typed view; 0 in the byte view
        Body body = Body::block;

        std::size_t total() const noexcept { return bytes * static_cast<std::size_t>(count); }
        bool is_block() const noexcept { return body == Body::block; }
    };
    // In the typed view there is one of these per node: it counts values of basic types and not bytes.
    struct Items {
        std::uint64_t items = 0;  // in one iteration
        std::uint64_t before = 0; // in the nodes that precede it in the same sequence
    };
    enum class View : std::uint8_t { bytes, typed };

    // The layout of a predefined type, and of a derived one from the layouts of its components.
    Layout(View view, const BasicType& type);
    Layout(View view, const Recipe& recipe);

    std::size_t size() const noexcept { return _size; } // bytes of data in one element
    const Node* nodes() const noexcept { return _nodes.data(); }
    std::size_t node_count() const noexcept { return _nodes.size(); }
    const std::int32_t* offsets() const noexcept { return _offsets.data(); }
    const Place* places() const noexcept { return _places.data(); }
    std::size_t memory() const noexcept; // bytes that the layout takes
    // The mean size of the blocks of an element that is not empty, where adjacent blocks of two nodes count as two.
    std::size_t mean_block() const noexcept { return _size / _blocks; }
    // The sequence of nodes that is one element.
    std::uint32_t first_root() const noexcept { return _first_root; }
    std::uint32_t roots() const noexcept { return _roots; }
    // `count` elements, `extent` bytes apart, as one node whose children are among nodes().
    Node repeat(MPI_Count count, MPI_Aint extent) const noexcept;

    // The following functions are for the typed view only.
    std::uint64_t items() const noexcept { return _item_count; } // values of basic types in one element
    // The number of values in the first `bytes` bytes of an element; *rest: the bytes of an incomplete value.
    std::uint64_t items_in(std::size_t bytes, std::size_t* rest) const noexcept;
    // The number of bytes of the first `items` values of an element.
    std::size_t bytes_of(std::uint64_t items) const noexcept;

private:
    friend class LayoutBuilder;
    std::uint32_t child_holding_byte(std::uint32_t first, std::uint32_t count, std::size_t byte) const noexcept;
    std::uint32_t child_holding_item(std::uint32_t first, std::uint32_t count, std::uint64_t item) const noexcept;
    void count_items();
    void count_blocks();

    std::vector<Node> _nodes;
    std::vector<Items> _items;
    std::vector<std::int32_t> _offsets;
    std::vector<Place> _places;
    std::uint32_t _first_root = 0;
    std::uint32_t _roots = 0;
    std::size_t _size = 0;
    std::uint64_t _blocks = 0; // of one element
    std::uint64_t _item_count = 0;
};

} // namespace patchbay
