// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

namespace patchbay::pml::ob1 {

// What stands at the start of every packet. All processes of a job run the same build on like machines: native order,
// natural alignment. `request` fields name an object of the process that they travel to (or come back to).
enum class PacketType : std::uint8_t {
    match = 1,    // MatchHeader + the whole message
    match_sync,   // SyncHeader + the whole message; answered by ack when it matches
    rts,          // RtsHeader: a message that waits at its sender
    ack,          // ControlHeader: the synchronous send has matched
    fin,          // ControlHeader: the message of this rts has been fetched, or nobody wants (more of) it
    cts,          // CtsHeader: stream the message in fragments
    frag,         // FragHeader + the next bytes of the message
    cancel,       // SyncHeader: give this message back if it has not matched; answered by cancel_reply
    cancel_reply, // ControlHeader; code 1: given back
    xoff,         // ControlHeader: announce messages by rts only, too many wait here unmatched
    xon,          // ControlHeader: the opposite
};

struct MatchHeader {
    PacketType type;
    std::uint8_t flags;
    std::uint16_t index; // of the communicator, at the receiver
    std::int32_t source; // sender's rank in its local group
    std::int32_t tag;
    std::uint32_t id; // names the message for a later cancel; 0: it will not be cancelled
};
static_assert(sizeof(MatchHeader) == 16);

// The hot path makes a match header of two words, the first of which a destination keeps ready, and stores it at once.
// Written field by field, the btl's wide load of it would have to wait until every narrow store had left the store
// buffer.
struct MatchWords {
    std::uint64_t first;  // type, flags, index, source
    std::uint64_t second; // tag, id

    static std::uint64_t make_first(std::uint16_t index, std::int32_t source) noexcept {
        return std::uint64_t(PacketType::match) | std::uint64_t(index) << 16 |
            std::uint64_t(std::uint32_t(source)) << 32;
    }
    static std::uint64_t make_second(std::int32_t tag, std::uint32_t id) noexcept {
        return std::uint64_t(std::uint32_t(tag)) | std::uint64_t(id) << 32;
    }
};
static_assert(sizeof(MatchWords) == sizeof(MatchHeader) && std::endian::native == std::endian::little);

struct SyncHeader {
    MatchHeader match;
    std::uint64_t request; // of the sender
};
static_assert(sizeof(SyncHeader) == 24);

struct RtsHeader {
    MatchHeader match;
    std::uint64_t request; // of the sender
    std::uint64_t length;
    std::uint64_t address; // where the message lies in the sender's memory as one block; 0: it does not
};
static_assert(sizeof(RtsHeader) == 40);

struct ControlHeader {
    PacketType type;
    std::uint8_t unused[3];
    std::uint32_t code;
    std::uint64_t request; // of the process that receives this
};
static_assert(sizeof(ControlHeader) == 16);

struct CtsHeader {
    PacketType type;
    std::uint8_t unused[7];
    std::uint64_t send_request;
    std::uint64_t recv_request;
    std::uint64_t offset; // first byte wanted
    std::uint64_t length; // bytes wanted from there
};
static_assert(sizeof(CtsHeader) == 40);

struct FragHeader {
    PacketType type;
    std::uint8_t unused[7];
    std::uint64_t recv_request;
};
static_assert(sizeof(FragHeader) == 16);

inline constexpr std::size_t largest_header = 40;

// Tags below zero are the library's own: a receive for any tag does not see them.
inline bool tag_matches(std::int32_t wanted, std::int32_t tag, std::int32_t any_tag) noexcept {
    return wanted == tag || (wanted == any_tag && tag >= 0);
}

} // namespace patchbay::pml::ob1
