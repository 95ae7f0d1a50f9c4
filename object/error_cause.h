// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string_view>

// The cause of an error as a text. A function that returns an MPI code cannot return a text with it, so that the text
// is stored for the calling thread until the MPI function reports the code (mpi/api/report.h): then MPI_Error_string
// returns the text, or a fatal error handler prints it. An operation that may fail on another thread than the one that
// completes it stores the text in its request (Request::cause).
namespace [[gnu::visibility("default")]] patchbay {

// Stores `text`, at most MPI_MAX_ERROR_STRING characters of it, for the report of `code`, and replaces the stored text.
// Returns `code`.
int note_cause(int code, std::string_view text) noexcept;

// The text that this thread has stored for `code`; empty: none. Valid until this thread's next note_cause().
std::string_view noted_cause(int code) noexcept;

void forget_cause() noexcept;

} // namespace patchbay
