// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/btl/btl.h"
#include "frameworks/cid/extended_id.h"

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
    answer,       // AnswerHeader: by which index we know the communicator that you named by its exCID
};

// In a match header: it does not name the communicator by the receiver's index, which its sender does not know yet, but
// by the exCID that follows the header (struct Extended).
inline constexpr std::uint8_t named_by_excid = 1;
// In any other match header: its sender knows the communicator by the same index, which stands for an answer.
inline constexpr std::uint8_t same_index = 2;

struct MatchHeader {
    PacketType type;
    std::uint8_t flags;
    std::uint16_t index; // of the communicator, at the receiver; named_by_excid: at the sender
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

    static std::uint64_t make_first(std::uint16_t index, std::int32_t source, std::uint8_t flags = 0) noexcept {
        return std::uint64_t(PacketType::match) | std::uint64_t(flags) << 8 | std::uint64_t(index) << 16 |
            std::uint64_t(std::uint32_t(source)) << 32;
    }
    static std::uint64_t without_flags(std::uint64_t first) noexcept { return first & ~std::uint64_t(0xff00); }
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

// Of the header that begins with a match header of this type, without a name behind it.
constexpr std::size_t match_header_size(PacketType type) noexcept {
    return type == PacketType::rts       ? sizeof(RtsHeader)
        : type == PacketType::match_sync ? sizeof(SyncHeader)
                                         : sizeof(MatchHeader);
}

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

// Any of the headers that begin with a match header, when it is named_by_excid: the receiver learns at once which
// communicator is meant and by which index the sender knows it.
template <class Header>
struct Extended {
    Header header;
    cid::ExtendedId id;
};
static_assert(sizeof(Extended<MatchHeader>) == 32 && sizeof(Extended<MatchWords>) == 32);

struct AnswerHeader {
    PacketType type;
    std::uint8_t unused;
    std::uint16_t index; // of the communicator, at the answering process
    std::int32_t source; // its rank in its local group
    cid::ExtendedId id;
};
static_assert(sizeof(AnswerHeader) == 24);

inline constexpr std::size_t largest_header = sizeof(Extended<RtsHeader>);
static_assert(largest_header == btl::smallest_header_room);

// Tags below zero are the library's own: a receive for any tag does not see them.
inline bool tag_matches(std::int32_t wanted, std::int32_t tag, std::int32_t any_tag) noexcept {
    return wanted == tag || (wanted == any_tag && tag >= 0);
}

} // namespace patchbay::pml::ob1
