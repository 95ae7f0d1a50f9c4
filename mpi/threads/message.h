// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace patchbay::threads {

class SendRequest;

// The memory of the payload of a short message between its sender and its receiver.
struct Cell {
    std::atomic<bool> in_use{false}; // of a cell that belongs to an engine: from the send to the copy at the receiver
    bool from_heap = false;          // the receiver frees it
    std::byte* payload = nullptr;

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
    in_place,   // with the envelope
    cell,       // in a cell
    rendezvous, // the receiver copies it from the sender's buffer, and then completes the sender's request
    remote,     // the receiver receives it from the other process, on the carrier
    cancel,     // no message: the sender of a rendezvous cancels it
};

// What the receiver of a message learns of it. The ranks are those of the communicator.
struct Envelope {
    static constexpr std::size_t in_place_bytes = 32;

    std::uint32_t context; // of the communicator
    std::int32_t source;
    std::int32_t tag;
    Kind kind;
    std::uint64_t bytes;
    union {
        std::byte data[in_place_bytes];
        Cell* cell;
        SendRequest* sender; // rendezvous, cancel
        struct {
            std::int32_t process; // rank of the sender's process on the carrier
            std::int32_t tag;     // of the payload on the carrier
        } remote;
    };
};
static_assert(sizeof(Envelope) == 56);

} // namespace patchbay::threads
