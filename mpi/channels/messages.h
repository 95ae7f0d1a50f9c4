// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/chan/selector.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace patchbay {

// The messages by which the two sides of a channel set it up (README.md).

// From the side that sends: it looks for a receive.
struct Proposal {
    std::uint64_t bytes; // of a message
    std::int32_t tag;    // of the program
    std::int32_t number; // of the binding in the sending process
    std::uint32_t slackness;
    std::uint32_t synchronous;
    chan::Selector::Candidates candidates;
};

// Every other message of the setup. Only its first size() bytes are sent: the shorter it is, the less memory a btl
// needs for it.
struct SetupMessage {
    std::int32_t code;   // MPI_SUCCESS, or the error with which the binding ends on both sides
    std::int32_t number; // of the binding in the process that sends this message
    chan::Selector::Candidate component;
    std::uint32_t data_bytes;
    std::byte data[340]; // a half of the channel, or the text of the error
    static_assert(sizeof data >= chan::most_offer_bytes);

    std::size_t size() const noexcept { return offsetof(SetupMessage, data) + data_bytes; }
    std::span<std::byte> room_for_half() noexcept { return std::span(data).first<chan::most_offer_bytes>(); }
    std::span<const std::byte> half() const noexcept { return std::span(data).first(sent_bytes()); }
    void set_text(std::string_view from) noexcept {
        data_bytes = std::uint32_t(std::min(from.size(), sizeof data));
        std::copy_n(reinterpret_cast<const std::byte*>(from.data()), data_bytes, data);
    }
    std::string_view text() const noexcept { return {reinterpret_cast<const char*>(data), sent_bytes()}; }

private:
    // Of a message that has been received.
    std::size_t sent_bytes() const noexcept { return std::min<std::size_t>(data_bytes, sizeof data); }
};

} // namespace patchbay
