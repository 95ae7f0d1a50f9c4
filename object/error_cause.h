// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "include/mpi.h"

#include <cstdint>
#include <string_view>

// The cause of an error as a text. A function that returns an MPI code cannot return a text with it, so that the text
// is stored for the calling thread until the MPI function reports the code (mpi/api/report.h): then MPI_Error_string
// returns the text, or a fatal error handler prints it. An operation that may fail on another thread than the one that
// completes it stores the text in its request (Request::cause).
namespace [[gnu::visibility("default")]] patchbay {

// Stores `text`, at most MPI_MAX_ERROR_STRING characters of it, for the report of `code`, and replaces the stored text.
// `text` may be the stored one. Returns `code`.
int note_cause(int code, std::string_view text) noexcept;

// Stores the cause of MPI_ERR_TRUNCATE: the message in this status has `sent` bytes, and its buffer takes `room`.
// Returns MPI_ERR_TRUNCATE.
int note_truncation(const MPI_Status& status, std::uint64_t sent, std::uint64_t room) noexcept;

// Afterwards: `bytes` of both sizes are not the program's. Stores the text without them. false: the stored text is
// another one.
bool shorten_truncation(std::uint64_t bytes) noexcept;

// The text that this thread has stored for `code`; empty: none. Valid until this thread's next note_cause().
std::string_view noted_cause(int code) noexcept;

void forget_cause() noexcept;

} // namespace patchbay
