// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/btl/btl.h"
#include "frameworks/cid/extended_id.h"
#include "object/process.h"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace patchbay::pml::ob1 {

// The headers at the start of the packets. All processes of a job run the same build on machines of one kind, so that
// integers have native byte order and natural alignment. A `request` field is the address of a request object in the
// process that receives the packet, or in the sender, which gets it back in the reply.
enum class PacketType : std::uint8_t {
    match = 1,  // MatchHeader + the whole message
    match_sync, // SyncHeader + the whole message; answered by ack when it matches
    rts,        // RtsHeader: ready to send; the message is still at its sender
    ack,        // ControlHeader: the synchronous send has matched; or it never will, and `code` is the error
    fin,        // ControlHeader: the receiver has fetched the message of this rts, as far as its buffer takes it; or
                // it never will, and `code` is the error
    cts,        // CtsHeader: clear to send; the sender is to stream the message in fragments
    put,        // PutHeader: the sender is to write a part of the message to the receiver's memory; answered by put_end
    put_end,    // ControlHeader: the sender has done so; or it could not, and `code` is the errno
    frag,       // FragHeader + the next bytes of the message
    stream_end, // ControlHeader; code: the error of the sender, which cannot send the rest of the message
    cancel,     // SyncHeader: the receiver is to drop this message if it is unmatched; answered by cancel_reply
    cancel_reply, // ControlHeader; code: a CancelOutcome
    xoff,         // ControlHeader: from now on the receiver of this packet sends rts instead of eager messages
    xon,          // ControlHeader: eager messages are allowed again
    cid_ack,      // CidAckHeader: the sender's index of a communicator, after an extended header from the receiver
    refusal,      // RefusalHeader: a process could not construct a communicator, which therefore cannot be used
    refusal_ack,  // RefusalHeader: the sender of this sends nothing more on that communicator
};

// What has become of a message that its sender cancels.
enum class CancelOutcome : std::uint8_t {
    kept = 0,    // it has been received, or is being received
    dropped = 1, // it was unmatched
    lost = 2,    // the receiver has no communicator for it (any more), and receives no part of it
};

// Flag of an extended header: `index` is the sender's, because the sender does not know the receiver's, and the exCID
// of the communicator follows the header (struct Extended).
inline constexpr std::uint8_t extended = 1;
// Flag of a match header that is not extended: the communicator has this index at the sender too. The message serves as
// CID acknowledgement.
inline constexpr std::uint8_t same_index = 2;

struct MatchHeader {
    PacketType type;
    std::uint8_t flags;
    std::uint16_t index; // of the communicator, at the receiver; in an extended header: at the sender
    std::int32_t source; // sender's rank in its local group
    std::int32_t tag;
    std::uint32_t id; // identifies the message in a later cancel; 0: it cannot be cancelled
};
static_assert(sizeof(MatchHeader) == 16);

// The hot path builds a match header from two words and stores them as words; RankState keeps the first one ready. If
// the header were written field by field, the btl's wide load of the header would have to wait until every narrow store
// had left the store buffer.
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
    std::uint64_t length : 62;
    std::uint64_t way : 2; // in which the message should come, from the point of view of its sender; 0: no matter
    std::uint64_t address; // of the message in the sender's memory, if it is one block; otherwise 0

    static RtsHeader make(const MatchHeader& match, std::uint64_t request, std::uint64_t length, unsigned way,
        std::uint64_t address) noexcept {
        RtsHeader header{match, request, 0, 0, address};
        header.length = length & ((std::uint64_t(1) << 62) - 1);
        header.way = way & 3;
        return header;
    }
};
static_assert(sizeof(RtsHeader) == 40);

// Size of the header that begins with a match header of this type, without an exCID behind it.
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
    bool resumes; // long messages have gone by other ways before (btl::Module::resume_packets)
    std::uint8_t unused[6];
    std::uint64_t send_request;
    std::uint64_t recv_request;
    std::uint64_t offset; // first byte wanted
    std::uint64_t length; // bytes wanted from there
};
static_assert(sizeof(CtsHeader) == 40);

struct PutHeader {
    PacketType type;
    std::uint8_t unused[7];
    std::uint64_t send_request;
    std::uint64_t recv_request;
    std::uint64_t offset; // of the part in the message
    std::uint64_t length;
    std::uint64_t address; // where it goes in the receiver's memory
};
static_assert(sizeof(PutHeader) == 48);

struct FragHeader {
    PacketType type;
    std::uint8_t unused[7];
    std::uint64_t recv_request;
};
static_assert(sizeof(FragHeader) == 16);

// A header that begins with a match header, with the flag `extended`: it contains which communicator the
// message is for and which index this communicator has at the sender.
template <class Header>
struct Extended {
    Header header;
    cid::ExtendedId id;
};
static_assert(sizeof(Extended<MatchHeader>) == 32 && sizeof(Extended<MatchWords>) == 32);

struct CidAckHeader {
    PacketType type;
    std::uint8_t unused;
    std::uint16_t index; // of the communicator, at the sender of the acknowledgement
    std::int32_t source; // rank of that sender in its local group
    cid::ExtendedId id;
};
static_assert(sizeof(CidAckHeader) == 24);

// Flag of a refusal: it comes from the process that could not construct the communicator, and so it is to be kept where
// the communicator does not exist. Without the flag it comes from a member that has got the refusal, and is answered by
// a refusal_ack.
inline constexpr std::uint8_t first_hand = 1;

struct RefusalHeader {
    PacketType type;
    std::uint8_t flags;
    std::uint8_t unused[2];
    std::int32_t code; // MPI error of the process that could not construct the communicator
    std::uint32_t by;  // that process: its rank in its job, which has another number in another process
    std::uint32_t padding;
    cid::ExtendedId id;
};
static_assert(sizeof(RefusalHeader) == 32);

inline constexpr std::size_t largest_header = sizeof(Extended<RtsHeader>);
static_assert(largest_header == btl::smallest_header_room);

// Tags below zero belong to the library: a receive with MPI_ANY_TAG does not match them.
inline bool tag_matches(std::int32_t wanted, std::int32_t tag, std::int32_t any_tag) noexcept {
    return wanted == tag || (wanted == any_tag && tag >= 0);
}

} // namespace patchbay::pml::ob1
