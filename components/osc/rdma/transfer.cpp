// SPDX-License-Identifier: BSD-3-Clause
#include "components/osc/rdma/transfer.h"

#include "components/common/run_operation.h"
#include "components/osc/rdma/errors.h"

#include <algorithm>
#include <array>

namespace patchbay::osc::rdma {

namespace {
// Blocks of this process that are shorter than this on average are packed: the kernel takes longer for one more entry
// of a list than a copy of so many bytes takes.
constexpr std::size_t pack_below = 512;
// A range with so many bytes between two pieces of the target is read as a whole: the kernel takes longer for one more
// piece (which it looks up in the page table) than for the bytes.
constexpr std::size_t gap_of_piece = 1024;
}

int Transfer::run_block(std::byte* here, std::uint64_t there, std::size_t bytes, bool wait) noexcept {
    const iovec local{here, bytes};
    const btl::RemotePiece remote{there - _reach.base, bytes};
    return move({&local, 1}, {&remote, 1}, wait);
}

int Transfer::run(Convertor& here, Convertor& there, std::size_t bytes) noexcept {
    std::array<iovec, most_pieces> places;
    std::array<btl::RemotePiece, most_pieces> pieces;
    while (bytes > 0) {
        const std::size_t start = there.position();
        const std::size_t count = there.next_blocks(places, bytes);
        std::size_t listed = 0;
        for (std::size_t i = 0; i < count; ++i) {
            pieces[i] = {reinterpret_cast<std::uintptr_t>(places[i].iov_base) - _reach.base, places[i].iov_len};
            listed += places[i].iov_len;
        }
        std::size_t moved = 0;
        if (const int error = move_pieces(here, std::span(pieces).first(count), listed, moved); error != 0) {
            return error;
        }
        there.seek(start + moved);
        bytes -= moved;
    }
    return 0;
}

// Moves as many of the bytes as fit into one operation.
int Transfer::move_pieces(
    Convertor& here, std::span<btl::RemotePiece> pieces, std::size_t bytes, std::size_t& moved) noexcept {
    int error = 0;
    if (_direction == Direction::get && pieces.size() > 1 && get_range(here, pieces, bytes, error)) {
        moved = bytes;
        return error;
    }
    if (here.contiguous() == nullptr && here.mean_block() < pack_below) {
        moved = std::min(bytes, scratch_bytes);
        return move_packed(here, pieces.first(cut(pieces, moved)), moved);
    }
    std::array<iovec, most_pieces> blocks;
    const std::size_t start = here.position();
    std::size_t count = 1;
    moved = bytes;
    if (here.contiguous() != nullptr) {
        blocks[0] = {here.contiguous() + start, bytes};
        here.seek(start + bytes);
    } else {
        count = here.next_blocks(blocks, bytes);
        moved = here.position() - start;
    }
    return move({blocks.data(), count}, pieces.first(cut(pieces, moved)), false);
}

// Shortens the list to the first `bytes` bytes; returns the number of its pieces.
std::size_t Transfer::cut(std::span<btl::RemotePiece> pieces, std::size_t bytes) noexcept {
    std::size_t count = 0;
    for (; bytes > 0; ++count) {
        pieces[count].bytes = std::min<std::uint64_t>(pieces[count].bytes, bytes);
        bytes -= pieces[count].bytes;
    }
    return count;
}

// The scratch memory is on the stack, so that the operation is complete afterwards.
int Transfer::move_packed(Convertor& here, std::span<const btl::RemotePiece> pieces, std::size_t bytes) noexcept {
    alignas(64) std::array<std::byte, scratch_bytes> scratch;
    const iovec local{scratch.data(), bytes};
    if (_direction == Direction::put) {
        here.pack(scratch.data(), bytes);
    }
    const int error = move({&local, 1}, pieces, true);
    if (_direction == Direction::get && error == 0) {
        here.unpack(scratch.data(), bytes);
    }
    return error;
}

// Reads the range in which the pieces are, where that is short. false: it is not.
bool Transfer::get_range(
    Convertor& here, std::span<const btl::RemotePiece> pieces, std::size_t bytes, int& error) noexcept {
    std::uint64_t begin = pieces.front().offset;
    std::uint64_t end = begin;
    for (const btl::RemotePiece& piece : pieces) {
        begin = std::min(begin, piece.offset);
        end = std::max(end, piece.offset + piece.bytes);
    }
    if (end - begin > scratch_bytes || end - begin > bytes + pieces.size() * gap_of_piece) {
        return false;
    }
    alignas(64) std::array<std::byte, scratch_bytes> scratch;
    const iovec local{scratch.data(), end - begin};
    const btl::RemotePiece range{begin, end - begin};
    error = move({&local, 1}, {&range, 1}, true);
    for (const btl::RemotePiece& piece : pieces) {
        if (error == 0) {
            here.unpack(scratch.data() + (piece.offset - begin), piece.bytes);
        }
    }
    return true;
}

// One operation; `wait`: it is complete at the origin afterwards.
int Transfer::move(std::span<const iovec> here, std::span<const btl::RemotePiece> there, bool wait) noexcept {
    Peer& peer = *_reach.peer;
    const auto start = [&](btl::Completion* end) {
        const btl::Started started = _direction == Direction::put
            ? peer.one_sided->put(*peer.endpoint, here, _reach.key, there, btl::Wake::nobody, end)
            : peer.one_sided->get(*peer.endpoint, here, _reach.key, there, end);
        peer.started.fetch_add(1, std::memory_order_release);
        return started;
    };
    if (wait) {
        return common::run_operation(_progress, start);
    }
    for (;;) {
        if (_request != nullptr) {
            _request->open();
        }
        const btl::Started started = start(_request);
        if (_request != nullptr && started.code != btl::StartCode::pending) {
            _request->close(started.code == btl::StartCode::failed ? started.error : 0);
        }
        if (started.code != btl::StartCode::full) {
            return started.code == btl::StartCode::failed ? started.error : 0;
        }
        poll_or_yield(_progress);
    }
}

} // namespace patchbay::osc::rdma
