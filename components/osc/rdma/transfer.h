// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/osc/rdma/members.h"
#include "components/osc/rdma/transfer_request.h"
#include "object/convertor.h"

#include <cstddef>
#include <cstdint>

namespace patchbay::osc::rdma {

enum class Direction : std::uint8_t { put, get };

// Memory of a member: where this process has it mapped, or how a btl reaches it.
struct Reach {
    Peer* peer = nullptr;
    int member = 0;
    btl::RemoteKey key;
    // The place of `base` in the words of the caller (bytes from the base of the window, or an address) is `base` here:
    // place p is at mapped + (p - base), and has offset p - base for the key.
    std::uint64_t base = 0;
    std::byte* mapped = nullptr;

    // Where a place is mapped; it may be that of a buffer whose type begins elsewhere.
    std::byte* at(std::uint64_t place) const noexcept {
        return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(mapped) + (place - base));
    }
};

// Added to the places of a window that counts from 0, because no place must be 0 for a convertor.
inline constexpr std::uint64_t place_bias = std::uint64_t(1) << 47;

// Between the memory of this process and that of a member that is not mapped: the next `bytes` bytes of both streams,
// whose positions advance. The stream `there` consists of places. Blocks that are short are packed, see README.md.
class Transfer {
public:
    // `request`: null, or the one that the operations count for.
    Transfer(Progress& progress, const Reach& reach, Direction direction, TransferRequest* request) noexcept
        : _progress(progress),
          _reach(reach),
          _direction(direction),
          _request(request) {}

    // Returns an errno. The operations may be under way, and Peer::started has counted them.
    int run(Convertor& here, Convertor& there, std::size_t bytes) noexcept;
    // The same for one block on each side. `wait`: it is complete at the origin afterwards; there is no request then.
    int run_block(std::byte* here, std::uint64_t there, std::size_t bytes, bool wait = false) noexcept;

private:
    static constexpr std::size_t most_pieces = 256; // of one operation; IOV_MAX is 1024
    static constexpr std::size_t scratch_bytes = 32 * 1024;

    int move(std::span<const iovec> here, std::span<const btl::RemotePiece> there, bool wait) noexcept;
    int move_pieces(
        Convertor& here, std::span<btl::RemotePiece> pieces, std::size_t bytes, std::size_t& moved) noexcept;
    int move_packed(Convertor& here, std::span<const btl::RemotePiece> pieces, std::size_t bytes) noexcept;
    bool get_range(Convertor& here, std::span<const btl::RemotePiece> pieces, std::size_t bytes, int& error) noexcept;
    static std::size_t cut(std::span<btl::RemotePiece> pieces, std::size_t bytes) noexcept;

    Progress& _progress;
    const Reach& _reach;
    const Direction _direction;
    TransferRequest* const _request;
};

} // namespace patchbay::osc::rdma
