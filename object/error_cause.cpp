// SPDX-License-Identifier: BSD-3-Clause
#include "object/error_cause.h"

#include "core/base/format_into.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace patchbay {

namespace {

struct Cause {
    int code = MPI_SUCCESS;
    std::size_t length = 0;
    std::array<char, MPI_MAX_ERROR_STRING> text;
};

thread_local Cause kept;

// What note_truncation() was called with, where `kept` has its text.
struct Truncation {
    bool is_kept = false;
    MPI_Status status;
    std::uint64_t sent;
    std::uint64_t room;
};
thread_local Truncation truncation;

} // namespace

int note_cause(int code, std::string_view text) noexcept {
    truncation.is_kept = false;
    kept.code = code;
    kept.length = std::min(text.size(), kept.text.size());
    if (kept.length != 0) { // an empty text may have no address
        std::memmove(kept.text.data(), text.data(), kept.length);
    }
    return code;
}

// A message of a collective has a tag below 0, which is none of the program's.
int note_truncation(const MPI_Status& status, std::uint64_t sent, std::uint64_t room) noexcept {
    std::array<char, 160> text;
    const std::string_view message = status.MPI_TAG >= 0
        ? format_into(text, "the message from rank {} with tag {}", status.MPI_SOURCE, status.MPI_TAG)
        : format_into(text, "the message from rank {}", status.MPI_SOURCE);
    const std::string_view sizes =
        format_into(std::span(text).subspan(message.size()), " has {} bytes, the buffer takes {}", sent, room);
    note_cause(MPI_ERR_TRUNCATE, {text.data(), message.size() + sizes.size()});
    truncation = {true, status, sent, room};
    return MPI_ERR_TRUNCATE;
}

bool shorten_truncation(std::uint64_t bytes) noexcept {
    const auto [is_kept, status, sent, room] = truncation;
    if (is_kept) {
        note_truncation(status, sent - std::min(bytes, sent), room - std::min(bytes, room));
    }
    return is_kept;
}

std::string_view noted_cause(int code) noexcept {
    return kept.code == code ? std::string_view(kept.text.data(), kept.length) : std::string_view();
}

void forget_cause() noexcept {
    kept.code = MPI_SUCCESS;
    kept.length = 0;
}

} // namespace patchbay
