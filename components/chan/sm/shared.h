// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace patchbay::chan::sm {

// What the two halves of a channel have in the memory of the node: each half one block, which it has allocated. The
// blocks begin with zeros.

inline constexpr std::size_t line_bytes = 64;

// The word of a chunk: what is in it, and the number of the chunk, by which the receiver sees that it is there. The
// number counts without end, so that no former content of the chunk has the same word, and nothing is ever cleared.
struct ChunkWord {
    static constexpr unsigned number_shift = 26;
    static constexpr std::uint64_t bytes_mask = (std::uint64_t(1) << 24) - 1;
    static constexpr std::uint64_t last = std::uint64_t(1) << 24; // the message ends with this chunk
    // The sender has written the message, all of it, to the receiver's buffer; the number of its bytes is in the chunk.
    static constexpr std::uint64_t placed = std::uint64_t(1) << 25;

    // `chunk` counts the chunks of the channel from 0.
    static constexpr std::uint64_t make(std::uint64_t chunk, std::uint64_t content) noexcept {
        return (chunk + 1) << number_shift | content;
    }
    static constexpr bool is_of(std::uint64_t word, std::uint64_t chunk) noexcept {
        return ((word ^ make(chunk, 0)) >> number_shift) == 0;
    }
};

using Word = std::atomic<std::uint64_t>;
static_assert(Word::is_always_lock_free);

// How the ring of chunks is divided; the sender decides. A short payload stands behind the word of its chunk, in the
// same cache line up to 56 bytes; a longer one begins a line, so that it can be copied past the cache.
struct Geometry {
    std::uint32_t chunks;         // a power of two
    std::uint32_t stride;         // bytes from chunk to chunk, whole lines
    std::uint32_t payload_offset; // in a chunk
    std::uint32_t payload_bytes;  // in a chunk, at most
    std::uint32_t whole_messages; // 1: each message is one chunk

    static constexpr std::uint32_t longest_beside_word = 512 - 8;
    // For messages of at most `bytes`, of which up to `slackness` are outstanding. `ring_bytes`: about so much memory.
    // `ready`: as Side::ready.
    static Geometry make(std::uint64_t bytes, std::uint32_t slackness, std::size_t ring_bytes, std::size_t chunk_bytes,
        bool ready = true) noexcept;
    // The chunks that a message of so many bytes takes.
    std::uint64_t chunks_of(std::uint64_t bytes) const noexcept {
        return bytes <= payload_bytes ? 1 : (bytes + payload_bytes - 1) / payload_bytes;
    }
    // Whether the callers of QuickWay may carry messages of that length: with 8 bytes they know where these stand.
    bool allows_quick_way(std::uint64_t bytes) const noexcept { return bytes != 8 || payload_offset == sizeof(Word); }
};

// Counts the halves that use a block: the one that comes to zero frees it.
struct Users {
    std::atomic<std::uint32_t> count;
};

struct SenderBlock {
    alignas(line_bytes) Users users;
    std::byte* chunks() noexcept { return reinterpret_cast<std::byte*>(this) + sizeof(SenderBlock); }
    static std::size_t bytes(const Geometry& geometry) noexcept {
        return sizeof(SenderBlock) + std::size_t(geometry.chunks) * geometry.stride;
    }
};
static_assert(sizeof(SenderBlock) == line_bytes);

// A start of the receive, where the sender needs to know of it.
struct Posted {
    Word number;           // of the message, counted from 1; published last
    std::uint64_t shared;  // where its data is in the memory of the node (SharedAddress); 0: it is not there
    std::uint64_t address; // the same in the receiver's address space; 0: the data is not one block
    std::uint64_t bytes;   // that have room
};

struct ReceiverBlock {
    alignas(line_bytes) Users users;
    alignas(line_bytes) Word consumed; // chunks that the receiver does not need any more
    // As many as the channel has slackness: the start of message n is in n mod slackness. The next one there begins
    // when this one has ended, which it does after the sender has read it.
    Posted* posted() noexcept { return reinterpret_cast<Posted*>(this + 1); }
    static std::size_t bytes(std::uint32_t slackness) noexcept {
        return sizeof(ReceiverBlock) + std::size_t(slackness) * sizeof(Posted);
    }
};

} // namespace patchbay::chan::sm
