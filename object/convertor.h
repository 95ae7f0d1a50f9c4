// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/copy.h"
#include "object/datatype.h"
#include "object/layout.h"

#include <cstddef>
#include <span>
#include <sys/uio.h>

namespace [[gnu::visibility("default")]] patchbay {

// Presents `count` elements of a datatype at `buffer` as a stream of `total()` bytes, which can be read or written
// forwards from any position. Transports use it to pack and unpack in pieces of any size. Its construction is cheap,
// and it allocates nothing. The datatype must be committed; it and the buffer must outlive the convertor. `buffer` may
// be MPI_BOTTOM with absolute displacements.
class Convertor {
public:
    Convertor() = default;
    Convertor(const Datatype& type, MPI_Count count, const void* buffer) noexcept
        : _total(static_cast<std::size_t>(type.size) * static_cast<std::size_t>(count)),
          _base(reinterpret_cast<std::uintptr_t>(buffer)) {
        if (type.dense) [[likely]] {
            _contiguous = _base + static_cast<std::uintptr_t>(type.true_lower_bound);
        } else if (_total > 0) {
            prepare(type, count);
        }
    }

    std::size_t total() const noexcept { return _total; }
    std::size_t position() const noexcept { return _position; }
    std::size_t remaining() const noexcept { return _total - _position; }
    void seek(std::size_t position) noexcept { _position = position; }

    // The address of the block of memory that is the whole stream; nullptr: the stream is empty or several blocks.
    std::byte* contiguous() const noexcept { return reinterpret_cast<std::byte*>(_contiguous); }

    // The mean size of the blocks of a stream that is not empty: how much a transfer of single blocks moves at a time.
    std::size_t mean_block() const noexcept { return _contiguous != 0 ? _total : _layout->mean_block(); }

    // pack() copies up to `size` bytes from memory to `out`, and unpack() from `in` to memory. Both return the number
    // of bytes that they have copied.
    std::size_t pack(void* out, std::size_t size) noexcept {
        if (_contiguous == 0) {
            return pack_blocks(static_cast<std::byte*>(out), size);
        }
        const std::size_t n = size < remaining() ? size : remaining();
        if (n > 0) {
            copy_bytes(out, contiguous() + _position, n);
            _position += n;
        }
        return n;
    }
    std::size_t unpack(const void* in, std::size_t size) noexcept {
        if (_contiguous == 0) {
            return unpack_blocks(static_cast<const std::byte*>(in), size);
        }
        const std::size_t n = size < remaining() ? size : remaining();
        if (n > 0) {
            copy_bytes(contiguous() + _position, in, n);
            _position += n;
        }
        return n;
    }
    // Fills `vectors` with the next blocks of memory, at most `max_bytes` in all, and advances the position past them.
    // Returns the number of vectors that were filled. Adjacent blocks share a vector. For transfers like readv().
    std::size_t next_blocks(std::span<iovec> vectors, std::size_t max_bytes) noexcept;

private:
    void prepare(const Datatype& type, MPI_Count count) noexcept;
    std::size_t pack_blocks(std::byte* out, std::size_t size) noexcept;
    std::size_t unpack_blocks(const std::byte* in, std::size_t size) noexcept;

    std::size_t _total = 0;
    std::size_t _position = 0;
    std::uintptr_t _contiguous = 0;
    std::uintptr_t _base = 0;
    const Layout* _layout = nullptr;
    Layout::Node _all; // the node of all elements; not set for dense types
};

} // namespace patchbay
