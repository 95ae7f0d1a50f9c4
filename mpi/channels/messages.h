// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/chan/selector.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

// Every other message of the setup.
struct SetupMessage {
    std::int32_t code;   // MPI_SUCCESS, or the error with which the binding ends on both sides
    std::int32_t number; // of the binding in the process that sends this message
    chan::Selector::Candidate component;
    std::uint32_t offer_bytes;
    char text[340]; // of the error, with a '\0'
    std::byte offer[chan::most_offer_bytes];

    void set_text(std::string_view from) noexcept {
        const std::size_t size = std::min(from.size(), sizeof text - 1);
        std::copy_n(from.data(), size, text);
        text[size] = '\0';
    }
};

} // namespace patchbay
