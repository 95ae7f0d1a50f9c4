// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace patchbay::threads {

class Engine;
class Lane;
class SendRequest;

// The memory of the payload of a short message between its sender and its receiver.
struct Cell {
    std::atomic<bool> in_use{false}; // of a cell that belongs to an engine: from the send to the copy at the receiver
    bool from_heap = false;          // the receiver frees it
    std::byte* payload = nullptr;

    // On the heap; nullptr: out of memory.
    static Cell* allocate(std::size_t bytes) noexcept {
        void* memory = std::malloc(sizeof(Cell) + bytes);
        if (memory == nullptr) {
            return nullptr;
        }
        auto* cell = new (memory) Cell;
        cell->from_heap = true;
        cell->payload = static_cast<std::byte*>(memory) + sizeof(Cell);
        return cell;
    }
    void release() noexcept {
        if (from_heap) {
            std::free(this);
        } else {
            in_use.store(false, std::memory_order_release);
        }
    }
};

// How the payload of a message gets to its receiver.
enum class Kind : std::uint32_t {
    in_place, // with the envelope
    cell,     // in a cell
    in_lane,  // in memory of the lane until the receiver takes the next message of it, or of the carrier during a call
    rendezvous, // the receiver copies it from the sender's buffer, and then completes the sender's request
    remote,     // the receiver receives it from the other process, on the carrier
    // No messages:
    cancel,    // the sender of a rendezvous cancels it
    received,  // the receiver of a rendezvous has received it
    lane,      // what follows from this sender is in its lane
    withdraw,  // a thread of another process cancels a message of kind remote
    withdrawn, // to that thread: the message has not been received, and never will be
    kept,      // to that thread: it has been received
};
inline bool is_message(Kind kind) noexcept {
    return kind < Kind::cancel;
}

// Between contiguous buffers. The size of one number is known to the compiler then.
inline void copy_payload(void* to, const void* from, std::size_t bytes) noexcept {
    if (bytes == sizeof(std::uint64_t)) {
        std::memcpy(to, from, sizeof(std::uint64_t));
    } else if (bytes > 0) { // otherwise either may be null
        std::memcpy(to, from, bytes);
    }
}

// What the receiver of a message learns of it. The ranks are those of the communicator.
struct Envelope {
    static constexpr std::size_t in_place_bytes = 32;
    struct Sender {
        SendRequest* request;  // also of cancel and received
        Engine* engine;        // also of cancel
        const std::byte* data; // the payload; null: the request tells where it is
    };

    std::uint32_t context; // of the communicator
    std::int32_t source;
    std::int32_t tag;
    Kind kind;
    std::uint64_t bytes;
    union {
        std::byte data[in_place_bytes];
        Cell* cell;
        const std::byte* payload; // in_lane
        Sender sender;
        Lane* lane;               // the receiver frees it
        struct {                  // also of withdraw, withdrawn and kept
            std::int32_t process; // rank of the sender's process on the carrier
            std::int32_t tag;     // of the payload on the carrier
            std::int32_t thread;  // of withdraw: the one that gets the answer
        } remote;
    };
};
static_assert(sizeof(Envelope) == 56);

// Whether a receive or probe with that source and tag, which may be wildcards, matches the message.
inline bool matches(int source, int tag, const Envelope& envelope) noexcept {
    return (source == envelope.source || source == MPI_ANY_SOURCE) &&
        (tag == envelope.tag || (tag == MPI_ANY_TAG && envelope.tag >= 0));
}

} // namespace patchbay::threads
