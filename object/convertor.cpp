// SPDX-License-Identifier: BSD-3-Clause
#include "object/convertor.h"

#include "object/copy_kernels.h"
#include "object/layout_walk.h"

#include <algorithm>

namespace patchbay {
namespace {

using kernels::Direction;
using Node = Layout::Node;

std::uintptr_t moved(std::uintptr_t address, MPI_Aint bytes) noexcept {
    return address + static_cast<std::uintptr_t>(bytes);
}

template <Direction direction>
void copy(std::byte* stream, std::uintptr_t address, std::size_t size) noexcept {
    kernels::copy_one<direction>(kernels::ByMemcpy(), stream, reinterpret_cast<std::byte*>(address), size);
}

// A body of a few single blocks, as in an array of structs, is copied member by member over this many iterations at a
// time: enough to make the selection of the loop negligible, and few enough for the data to stay in the L1 cache.
constexpr std::size_t max_members = 16;
constexpr std::size_t iterations_at_once = 32;
// A table of so few blocks in a loop of so many iterations is copied in the same way.
constexpr std::size_t max_table_members = 32;
constexpr std::size_t least_table_iterations = 4;

bool is_plain_struct(const Node* first, const Node* last) noexcept {
    std::size_t members = 0;
    for (; first != last; ++first) {
        if (!first->is_block() || first->count > MPI_Count(max_members)) {
            return false;
        }
        members += static_cast<std::size_t>(first->count);
    }
    return members <= max_members;
}

// Copies `count` iterations of a loop over the members of a struct. `stream` and `address` belong to the first of them.
template <Direction direction>
void copy_members(const Node* first, const Node* last, std::byte* stream, std::size_t step, std::uintptr_t address,
    std::uintptr_t stride, std::size_t count) noexcept {
    for (const Node* member = first; member != last; ++member) {
        std::byte* to = stream + member->before;
        std::uintptr_t at = moved(address, member->displacement);
        for (MPI_Count i = 0; i < member->count; ++i, to += member->bytes, at = moved(at, member->stride)) {
            kernels::copy_blocks<direction>(to, step, at, stride, count, member->bytes);
        }
    }
}

template <Direction direction>
void copy_iterations(
    const Layout& layout, const Node& node, std::byte* stream, std::uintptr_t address, std::size_t count) noexcept;

template <Direction direction>
void copy_sequences(
    const Layout& layout, const Node& node, std::byte* stream, std::uintptr_t address, std::size_t count) noexcept {
    const Node* const first = layout.nodes() + node.first_child;
    const Node* const last = first + node.children;
    const auto stride = static_cast<std::uintptr_t>(node.stride);
    if (node.children == 1 && first->is_block()) {
        return kernels::copy_rows<direction>(stream, moved(address, first->displacement), stride, count,
            static_cast<std::uintptr_t>(first->stride), static_cast<std::size_t>(first->count), first->bytes);
    }
    if (is_plain_struct(first, last)) {
        for (std::size_t n = 0; count > 0; count -= n, stream += n * node.bytes, address += n * stride) {
            n = std::min(count, iterations_at_once);
            copy_members<direction>(first, last, stream, node.bytes, address, stride, n);
        }
        return;
    }
    for (; count > 0; --count, stream += node.bytes, address += stride) {
        for (const Node* child = first; child != last; ++child) {
            copy_iterations<direction>(layout, *child, stream + child->before, moved(address, child->displacement),
                static_cast<std::size_t>(child->count));
        }
    }
}

template <Direction direction>
void copy_tables(
    const Layout& layout, const Node& node, std::byte* stream, std::uintptr_t address, std::size_t count) noexcept {
    const auto stride = static_cast<std::uintptr_t>(node.stride);
    if (count >= least_table_iterations && node.children <= max_table_members) {
        for (std::size_t n = 0; count > 0; count -= n, stream += n * node.bytes, address += n * stride) {
            n = std::min(count, iterations_at_once);
            for (std::size_t i = 0; i < node.children; ++i) {
                const TableBlock block = table_block(layout, node, i);
                kernels::copy_blocks<direction>(
                    stream + block.begin, node.bytes, moved(address, block.offset), stride, n, block.end - block.begin);
            }
        }
        return;
    }
    for (; count > 0; --count, stream += node.bytes, address += stride) {
        if (node.body == Layout::Body::equal) {
            kernels::copy_equal<direction>(
                stream, address, layout.offsets() + node.first_child, node.children, node.bytes / node.children);
        } else {
            kernels::copy_various<direction>(stream, address, layout.places() + node.first_child, node.children);
        }
    }
}

// Copies `count` whole iterations of a node, the first of which is at `address` in memory.
template <Direction direction>
void copy_iterations(
    const Layout& layout, const Node& node, std::byte* stream, std::uintptr_t address, std::size_t count) noexcept {
    switch (node.body) {
    case Layout::Body::block:
        return kernels::copy_blocks<direction>(
            stream, address, static_cast<std::uintptr_t>(node.stride), count, node.bytes);
    case Layout::Body::sequence:
        return copy_sequences<direction>(layout, node, stream, address, count);
    case Layout::Body::equal:
    case Layout::Body::various:
        return copy_tables<direction>(layout, node, stream, address, count);
    }
}

// A sink of walk_node() that copies bytes between a stream and memory.
template <Direction direction>
struct Copier {
    const Layout& layout;
    std::byte* stream;
    std::size_t budget;

    bool part(std::uintptr_t address, std::size_t size, const Node&) noexcept {
        copy<direction>(stream, address, size);
        passed(size);
        return true;
    }
    bool run(std::uintptr_t address, MPI_Aint stride, std::size_t count, const Node& node) noexcept {
        kernels::copy_blocks<direction>(stream, address, static_cast<std::uintptr_t>(stride), count, node.bytes);
        passed(node.bytes * count);
        return true;
    }
    bool table(std::uintptr_t address, std::size_t first, std::size_t count, const Node& node) noexcept {
        if (node.body == Layout::Body::equal) {
            const std::size_t size = node.bytes / node.children;
            kernels::copy_equal<direction>(stream, address, layout.offsets() + node.first_child + first, count, size);
            passed(count * size);
        } else {
            const Layout::Place* const places = layout.places() + node.first_child + first;
            kernels::copy_various<direction>(stream, address, places, count);
            passed(places[count].before - places[0].before);
        }
        return true;
    }
    void whole(const Node& node, std::uintptr_t address, std::size_t count) noexcept {
        copy_iterations<direction>(layout, node, stream, address, count);
        passed(node.bytes * count);
    }

private:
    void passed(std::size_t size) noexcept {
        stream += size;
        budget -= size;
    }
};

// Copies `size` bytes from a position of the stream on. `node` is all of it.
template <Direction direction>
void copy_stream(const Layout* layout, const Node& node, std::uintptr_t base, std::size_t position, std::byte* stream,
    std::size_t size) noexcept {
    if (size == 0) {
        return;
    }
    if (size == node.total()) {
        return copy_iterations<direction>(
            *layout, node, stream, moved(base, node.displacement), static_cast<std::size_t>(node.count));
    }
    Copier<direction> copier{*layout, stream, size};
    walk_node(*layout, node, base, position, copier);
}

// A sink of walk_node() that lists blocks and does not copy them.
struct Lister {
    const Layout& layout;
    std::span<iovec> vectors;
    std::size_t budget;
    std::size_t used = 0;

    bool part(std::uintptr_t address, std::size_t size, const Layout::Node&) noexcept {
        if (used > 0) {
            iovec& last = vectors[used - 1];
            if (reinterpret_cast<std::uintptr_t>(last.iov_base) + last.iov_len == address) {
                last.iov_len += size;
                budget -= size;
                return true;
            }
        }
        if (used == vectors.size()) {
            return false;
        }
        vectors[used++] = iovec{reinterpret_cast<void*>(address), size};
        budget -= size;
        return true;
    }

    bool run(std::uintptr_t address, MPI_Aint stride, std::size_t count, const Layout::Node& node) noexcept {
        for (std::size_t i = 0; i < count; ++i, address += static_cast<std::uintptr_t>(stride)) {
            if (!part(address, node.bytes, node)) {
                return false;
            }
        }
        return true;
    }

    bool table(std::uintptr_t address, std::size_t first, std::size_t count, const Node& node) noexcept {
        for (std::size_t i = first; i < first + count; ++i) {
            const TableBlock block = table_block(layout, node, i);
            if (!part(moved(address, block.offset), block.end - block.begin, node)) {
                return false;
            }
        }
        return true;
    }
};

} // namespace

void Convertor::prepare(const Datatype& type, MPI_Count count) noexcept {
    _layout = &type.layout();
    if (count == 1 && _layout->roots() == 1) {
        _all = _layout->nodes()[_layout->first_root()];
    } else {
        _all = _layout->repeat(count, type.extent);
    }
    if (_all.is_block() && _all.count == 1) {
        _contiguous = moved(_base, _all.displacement);
    }
}

std::size_t Convertor::pack_blocks(std::byte* out, std::size_t size) noexcept {
    const std::size_t n = std::min(size, remaining());
    copy_stream<Direction::pack>(_layout, _all, _base, _position, out, n);
    _position += n;
    return n;
}

std::size_t Convertor::unpack_blocks(const std::byte* in, std::size_t size) noexcept {
    const std::size_t n = std::min(size, remaining());
    copy_stream<Direction::unpack>(_layout, _all, _base, _position, const_cast<std::byte*>(in), n);
    _position += n;
    return n;
}

std::size_t Convertor::next_blocks(std::span<iovec> vectors, std::size_t max_bytes) noexcept {
    const std::size_t n = std::min(max_bytes, remaining());
    if (n == 0 || vectors.empty()) {
        return 0;
    }
    if (_contiguous != 0) {
        vectors[0] = iovec{contiguous() + _position, n};
        _position += n;
        return 1;
    }
    Lister lister{*_layout, vectors, n};
    walk_node(*_layout, _all, _base, _position, lister);
    _position += n - lister.budget;
    return lister.used;
}

} // namespace patchbay
