// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/btl/one_sided.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <sys/uio.h>

namespace patchbay::common {

// The lists of put() and get().

inline std::uint64_t place_of(const iovec& piece) noexcept {
    return reinterpret_cast<std::uintptr_t>(piece.iov_base);
}
inline std::uint64_t bytes_of(const iovec& piece) noexcept {
    return piece.iov_len;
}
inline std::uint64_t place_of(const btl::RemotePiece& piece) noexcept {
    return piece.offset;
}
inline std::uint64_t bytes_of(const btl::RemotePiece& piece) noexcept {
    return piece.bytes;
}

// Goes through a list byte by byte.
template <class Piece>
class PieceCursor {
public:
    explicit PieceCursor(std::span<const Piece> pieces) noexcept
        : _pieces(pieces) {
        pass_ended();
    }
    bool at_end() const noexcept { return _pieces.empty(); }
    // The rest of the present piece: never empty before the end.
    std::uint64_t place() const noexcept { return place_of(_pieces.front()) + _done; }
    std::uint64_t bytes() const noexcept { return bytes_of(_pieces.front()) - _done; }
    // May go beyond the present piece, but not beyond the list.
    void advance(std::uint64_t count) noexcept {
        while (count != 0) {
            const std::uint64_t step = std::min(count, bytes());
            _done += step;
            count -= step;
            pass_ended();
        }
    }
    // To the next piece.
    void advance() noexcept { advance(bytes()); }

private:
    void pass_ended() noexcept {
        while (!_pieces.empty() && _done == bytes_of(_pieces.front())) {
            _pieces = _pieces.subspan(1);
            _done = 0;
        }
    }
    std::span<const Piece> _pieces;
    std::uint64_t _done = 0; // bytes of the first piece
};

// 0, or the error of Started for lists that do not fit together or into a range of that many bytes.
inline int check_pieces(
    std::span<const iovec> local, std::span<const btl::RemotePiece> remote, std::uint64_t range) noexcept {
    std::uint64_t here = 0;
    for (const iovec& piece : local) {
        here += piece.iov_len;
    }
    std::uint64_t there = 0;
    for (const btl::RemotePiece& piece : remote) {
        if (piece.offset > range || piece.bytes > range - piece.offset) {
            return ERANGE;
        }
        there += piece.bytes;
    }
    return here == there ? 0 : EINVAL;
}

} // namespace patchbay::common
