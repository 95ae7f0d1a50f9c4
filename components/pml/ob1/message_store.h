// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/pml/ob1/headers.h"
#include "core/base/list.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace patchbay::pml::ob1 {

struct Peer;

// A message (or the rts of one) that arrived before its receive was posted. Its eager payload follows the structure.
struct Unexpected {
    Link<Unexpected> by_source;  // in the queue of its source, in order of arrival
    Link<Unexpected> by_arrival; // in the queue of its communicator, or in EarlyMessages, in order of arrival
    Peer* from;
    MatchHeader match;
    std::uint64_t request; // sender's; match_sync and rts
    std::uint64_t length;  // of the whole message
    std::uint64_t address; // rts: see RtsHeader
    std::uint32_t charge;  // bytes of memory that it takes in this process
    std::uint32_t size_class;

    std::byte* payload() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
    const std::byte* payload() const noexcept { return reinterpret_cast<const std::byte*>(this + 1); }
};

// Memory for unexpected messages, recycled in size classes; larger messages are allocated one by one.
class MessageStore {
public:
    MessageStore() = default;
    ~MessageStore();
    MessageStore(const MessageStore&) = delete;
    MessageStore& operator=(const MessageStore&) = delete;

    // Memory for a message with that payload; charge and size_class are set, the caller sets the other members.
    // nullptr: out of memory.
    Unexpected* make(std::size_t payload_size) noexcept;
    void free(Unexpected* message) noexcept;

private:
    struct Chunk {
        Chunk* next;
    };
    static constexpr std::array<std::uint32_t, 5> class_bytes{160, 352, 1120, 4224, 16512};
    static constexpr std::uint32_t no_class = class_bytes.size();
    static constexpr std::size_t chunk_bytes = 64 * 1024;

    bool grow(std::uint32_t size_class) noexcept;

    std::array<Unexpected*, class_bytes.size()> _free{};
    Chunk* _chunks = nullptr;
};

} // namespace patchbay::pml::ob1
