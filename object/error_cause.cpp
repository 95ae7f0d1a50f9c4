// SPDX-License-Identifier: BSD-3-Clause
#include "object/error_cause.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>

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
    char* end = fmt::format_to_n(text.data(), text.size(), "the message from rank {}", status.MPI_SOURCE).out;
    if (status.MPI_TAG >= 0) {
        end = fmt::format_to_n(end, std::size_t(text.end() - end), " with tag {}", status.MPI_TAG).out;
    }
    end = fmt::format_to_n(end, std::size_t(text.end() - end), " has {} bytes, the buffer takes {}", sent, room).out;
    note_cause(MPI_ERR_TRUNCATE, {text.data(), std::size_t(end - text.data())});
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
