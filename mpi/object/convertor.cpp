// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/object/convertor.h"

#include "mpi/object/layout_walk.h"

#include <algorithm>

namespace patchbay {
namespace {

enum class Direction { pack, unpack };

template <std::size_t size, Direction direction>
void copy_fixed(std::byte* stream, std::uintptr_t address, std::uintptr_t stride, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i, address += stride, stream += size) {
        if constexpr (direction == Direction::pack) {
            std::memcpy(stream, reinterpret_cast<const void*>(address), size);
        } else {
            std::memcpy(reinterpret_cast<void*>(address), stream, size);
        }
    }
}

// Moves bytes between a stream and memory. Small blocks of the usual sizes are moved by a load and a store each.
template <Direction direction>
struct Copier {
    std::byte* stream;
    std::size_t budget;

    void move(std::uintptr_t address, std::size_t size) noexcept {
        if constexpr (direction == Direction::pack) {
            std::memcpy(stream, reinterpret_cast<const void*>(address), size);
        } else {
            std::memcpy(reinterpret_cast<void*>(address), stream, size);
        }
        stream += size;
        budget -= size;
    }

    bool part(std::uintptr_t address, std::size_t size, const Layout::Node&) noexcept {
        move(address, size);
        return true;
    }

    bool run(std::uintptr_t address, MPI_Aint stride, std::size_t count, const Layout::Node& node) noexcept {
        if (count == 1) {
            move(address, node.bytes);
            return true;
        }
        const auto step = static_cast<std::uintptr_t>(stride);
        switch (node.bytes) {
        case 1:
            copy_fixed<1, direction>(stream, address, step, count);
            break;
        case 2:
            copy_fixed<2, direction>(stream, address, step, count);
            break;
        case 4:
            copy_fixed<4, direction>(stream, address, step, count);
            break;
        case 8:
            copy_fixed<8, direction>(stream, address, step, count);
            break;
        case 12:
            copy_fixed<12, direction>(stream, address, step, count);
            break;
        case 16:
            copy_fixed<16, direction>(stream, address, step, count);
            break;
        default:
            for (std::size_t i = 0; i < count; ++i, address += step) {
                move(address, node.bytes);
            }
            return true;
        }
        stream += node.bytes * count;
        budget -= node.bytes * count;
        return true;
    }
};

// Lists blocks instead of copying them.
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
