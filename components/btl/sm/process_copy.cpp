// SPDX-License-Identifier: BSD-3-Clause
#include "components/btl/sm/process_copy.h"

#include <array>
#include <cerrno>

namespace patchbay::btl::sm {

namespace {

using common::Direction;
using common::PieceCursor;

// Pieces of one call, of at most IOV_MAX: the call takes longer than the loop around it from a few dozen on.
constexpr std::size_t most_pieces = 128;

using Batch = std::array<iovec, most_pieces>;

// The next pieces, as addresses. Returns their number.
template <class Piece>
std::size_t fill(Batch& batch, PieceCursor<Piece> from, std::uint64_t base) noexcept {
    std::size_t count = 0;
    for (; count < most_pieces && !from.at_end(); from.advance()) {
        batch[count++] = {reinterpret_cast<void*>(base + from.place()), from.bytes()};
    }
    return count;
}

ssize_t call(Direction direction, pid_t pid, const iovec* local, std::size_t locals, const iovec* remote,
    std::size_t remotes) noexcept {
    return direction == Direction::put ? process_vm_writev(pid, local, locals, remote, remotes, 0)
                                       : process_vm_readv(pid, local, locals, remote, remotes, 0);
}

} // namespace

int copy_process(Direction direction, pid_t pid, std::span<const iovec> local, std::uint64_t base,
    std::span<const RemotePiece> remote) noexcept {
    PieceCursor here(local);
    PieceCursor there(remote);
    Batch locals;
    Batch remotes;
    while (!here.at_end()) {
        const std::size_t local_pieces = fill(locals, here, 0);
        const std::size_t remote_pieces = fill(remotes, there, base);
        // The call ends with the shorter one of both lists, after 2 GiB, or at a place without memory.
        const ssize_t copied = call(direction, pid, locals.data(), local_pieces, remotes.data(), remote_pieces);
        if (copied <= 0) {
            return copied < 0 ? errno : EFAULT;
        }
        here.advance(std::uint64_t(copied));
        there.advance(std::uint64_t(copied));
    }
    return 0;
}

} // namespace patchbay::btl::sm
