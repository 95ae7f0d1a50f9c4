// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/layout.h"
#include "object/recipe_blocks.h"

#include <type_traits>

namespace patchbay {

// Blocks of bytes of a recipe with lists of blocks (object/recipe_blocks.h), without their nodes.

// The data of one element of a component, where that is one block of bytes.
struct ByteBlock {
    MPI_Aint displacement = 0;
    MPI_Aint bytes = 0;
    bool contiguous = false; // several elements are one block, too
};

// false: it is something else, or nothing.
inline bool find_byte_block(const Datatype& type, ByteBlock* block) {
    const Layout& layout = type.layout();
    if (layout.roots() != 1) {
        return false;
    }
    const Layout::Node& node = layout.nodes()[layout.first_root()];
    const auto bytes = static_cast<MPI_Aint>(node.bytes);
    *block = {node.displacement, bytes, type.extent == bytes};
    return node.is_block() && node.count == 1;
}

// Calls visit(displacement, bytes) for each element of the lists that is not empty, until it returns false; returns
// false after that, and where a block is not one of bytes. No number overflows, because the bounds of the type are
// known to fit.
template <class Blocks, class Visit>
bool for_each_byte_block(const Blocks& blocks, Visit&& visit) {
    constexpr bool one_component = std::is_same_v<decltype(blocks.types), OneComponent>;
    ByteBlock block;
    if (one_component && !find_byte_block(blocks.types[0], &block)) {
        return false;
    }
    for (std::size_t i = 0; i < blocks.count; ++i) {
        const MPI_Count length = blocks.lengths[i];
        if (length == 0) {
            continue;
        }
        if ((!one_component && !find_byte_block(blocks.types[i], &block)) || (length != 1 && !block.contiguous) ||
            !visit(blocks.places[i] * blocks.scale + block.displacement, length * block.bytes)) {
            return false;
        }
    }
    return true;
}

template <class Blocks>
bool are_byte_blocks(const Blocks& blocks) {
    return for_each_byte_block(blocks, [](MPI_Aint, MPI_Aint) { return true; });
}

// The same with blocks that touch each other as one.
template <class Blocks, class Visit>
bool for_each_run(const Blocks& blocks, Visit&& visit) {
    MPI_Aint begin = 0, end = 0; // of the last run, which more blocks may touch
    const bool all = for_each_byte_block(blocks, [&](MPI_Aint place, MPI_Aint bytes) {
        if (place == end) {
            end += bytes;
            return true;
        }
        const bool go_on = begin == end || visit(begin, static_cast<std::size_t>(end - begin));
        begin = place;
        end = place + bytes;
        return go_on;
    });
    return all && (begin == end || visit(begin, static_cast<std::size_t>(end - begin)));
}

} // namespace patchbay
