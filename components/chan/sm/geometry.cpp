// SPDX-License-Identifier: BSD-3-Clause
#include "components/chan/sm/shared.h"

#include <algorithm>
#include <bit>

namespace patchbay::chan::sm {

namespace {
constexpr std::uint64_t in_lines(std::uint64_t bytes) noexcept {
    return (bytes + line_bytes - 1) / line_bytes * line_bytes;
}
constexpr std::uint32_t least_chunks = 16;
// Of one line each. Each time that the ring appears to be full, the sender reads what has been consumed, about 170
// instructions: of 64 messages it is one.
constexpr std::uint32_t least_lines = 64;
// Where the sender may be any number of messages ahead: so much memory, up to that number of chunks, for the same
// reason.
constexpr std::uint32_t bytes_ahead = 32 * 1024;
} // namespace

// Twice the slackness at least, so that a sender whose messages are outstanding at the receiver can start as many again
// before it has to look at what the receiver has consumed.
Geometry Geometry::make(std::uint64_t bytes, std::uint32_t slackness, std::size_t ring_bytes, std::size_t chunk_bytes,
    bool ready) noexcept {
    Geometry made{};
    made.payload_bytes = std::uint32_t(std::min<std::uint64_t>(bytes, chunk_bytes));
    if (bytes <= longest_beside_word) {
        made.payload_offset = sizeof(Word);
    } else {
        made.payload_offset = line_bytes;
    }
    made.whole_messages = bytes <= chunk_bytes;
    made.stride = std::uint32_t(in_lines(made.payload_offset + made.payload_bytes));
    std::uint32_t least = made.stride == line_bytes ? least_lines : least_chunks;
    if (!ready) {
        least = std::clamp(bytes_ahead / made.stride, least, least_lines);
    }
    const std::uint32_t wanted = std::bit_ceil(std::max(least, 2 * slackness));
    const auto room = std::uint32_t(std::bit_floor(std::max<std::size_t>(ring_bytes / made.stride, 4)));
    if (made.payload_offset == sizeof(Word)) {
        made.chunks = wanted; // short messages are what a large slackness is for
    } else {
        made.chunks = made.whole_messages != 0 ? std::min(wanted, room) : room;
    }
    return made;
}

} // namespace patchbay::chan::sm
