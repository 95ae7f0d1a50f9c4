// SPDX-License-Identifier: BSD-3-Clause
#include "object/convertor.h"

#include "object/layout_walk.h"

#include <algorithm>

namespace patchbay {
namespace {

enum class Direction { pack, unpack };

template <Direction direction>
void copy(std::byte* stream, std::uintptr_t address, std::size_t size) noexcept {
    if constexpr (direction == Direction::pack) {
        std::memcpy(stream, reinterpret_cast<const void*>(address), size);
    } else {
        std::memcpy(reinterpret_cast<void*>(address), stream, size);
    }
}

template <Direction direction, std::size_t size>
void copy_fixed(
    std::byte* stream, std::size_t step, std::uintptr_t address, std::uintptr_t stride, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i, address += stride, stream += step) {
        copy<direction>(stream, address, size);
    }
}

// Copies `count` blocks, which lie `stride` bytes apart in memory and `step` bytes apart in the stream. A small block
// of a common size takes one load and one store.
template <Direction direction>
void copy_blocks(std::byte* stream, std::size_t step, std::uintptr_t address, std::uintptr_t stride, std::size_t count,
    std::size_t size) noexcept {
    switch (size) {
    case 1:
        return copy_fixed<direction, 1>(stream, step, address, stride, count);
    case 2:
        return copy_fixed<direction, 2>(stream, step, address, stride, count);
    case 4:
        return copy_fixed<direction, 4>(stream, step, address, stride, count);
    case 8:
        return copy_fixed<direction, 8>(stream, step, address, stride, count);
    case 12:
        return copy_fixed<direction, 12>(stream, step, address, stride, count);
    case 16:
        return copy_fixed<direction, 16>(stream, step, address, stride, count);
    default:
        for (std::size_t i = 0; i < count; ++i, address += stride, stream += step) {
            copy<direction>(stream, address, size);
        }
    }
}

// A body of a few single blocks, as in an array of structs, is copied member by member over this many iterations at a
// time: enough to make the selection of the loop negligible, and few enough for the data to stay in the L1 cache.
constexpr std::size_t max_members = 16;
constexpr MPI_Count iterations_at_once = 32;

bool is_plain_struct(const Layout::Node* first, const Layout::Node* last) noexcept {
    return static_cast<std::size_t>(last - first) <= max_members &&
        std::all_of(first, last, [](const auto& child) { return child.is_block() && child.count == 1; });
}

// Copies `count` whole iterations of a loop.
template <Direction direction>
void copy_bodies(const Layout::Node* nodes, const Layout::Node& node, std::byte* stream, std::uintptr_t address,
    MPI_Count count) noexcept {
    const Layout::Node* const first = nodes + node.first_child;
    const Layout::Node* const last = first + node.children;
    const auto stride = static_cast<std::uintptr_t>(node.stride);
    const MPI_Count at_once = is_plain_struct(first, last) ? iterations_at_once : 1;
    while (count > 0) {
        const auto n = static_cast<std::size_t>(std::min(count, at_once));
        for (const Layout::Node* child = first; child != last; ++child) {
            const std::uintptr_t at = address + static_cast<std::uintptr_t>(child->displacement);
            std::byte* const to = stream + child->before;
            if (child->is_block() && child->count == 1) {
                copy_blocks<direction>(to, node.bytes, at, stride, n, child->bytes);
            } else if (child->is_block()) {
                copy_blocks<direction>(to, child->bytes, at, static_cast<std::uintptr_t>(child->stride),
                    static_cast<std::size_t>(child->count), child->bytes);
            } else {
                copy_bodies<direction>(nodes, *child, to, at, child->count);
            }
        }
        stream += n * node.bytes;
        address += n * stride;
        count -= static_cast<MPI_Count>(n);
    }
}

// A sink of walk_blocks() that copies bytes between a stream and memory.
template <Direction direction>
struct Copier {
    std::byte* stream;
    std::size_t budget;

    bool part(std::uintptr_t address, std::size_t size, const Layout::Node&) noexcept {
        copy<direction>(stream, address, size);
        passed(size);
        return true;
    }
    bool run(std::uintptr_t address, MPI_Aint stride, std::size_t count, const Layout::Node& node) noexcept {
        copy_blocks<direction>(stream, node.bytes, address, static_cast<std::uintptr_t>(stride), count, node.bytes);
        passed(node.bytes * count);
        return true;
    }
    void bodies(const Layout::Node* nodes, const Layout::Node& node, std::uintptr_t address, MPI_Count count) noexcept {
        copy_bodies<direction>(nodes, node, stream, address, count);
        passed(node.bytes * static_cast<std::size_t>(count));
    }

private:
    void passed(std::size_t size) noexcept {
        stream += size;
        budget -= size;
    }
};

// A sink of walk_blocks() that lists blocks and does not copy them.
struct Lister {
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
};

} // namespace

void Convertor::prepare(const Datatype& type, MPI_Count count) noexcept {
    const Layout& layout = type.layout();
    _nodes = layout.nodes();
    _all = layout.repeat(count, type.extent);
    if (_all.is_block() && _all.count == 1) {
        _contiguous = _base + static_cast<std::uintptr_t>(_all.displacement);
    }
}

std::size_t Convertor::pack_blocks(std::byte* out, std::size_t size) noexcept {
    const std::size_t n = std::min(size, remaining());
    if (n > 0) {
        Copier<Direction::pack> copier{out, n};
        walk_node(_nodes, _all, _base, _position, copier);
        _position += n;
    }
    return n;
}

std::size_t Convertor::unpack_blocks(const std::byte* in, std::size_t size) noexcept {
    const std::size_t n = std::min(size, remaining());
    if (n > 0) {
        Copier<Direction::unpack> copier{const_cast<std::byte*>(in), n};
        walk_node(_nodes, _all, _base, _position, copier);
        _position += n;
    }
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
    Lister lister{vectors, n};
    walk_node(_nodes, _all, _base, _position, lister);
    _position += n - lister.budget;
    return lister.used;
}

} // namespace patchbay
