// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string_view>

// Why an MPI call is about to fail, in words. A function that returns an MPI code cannot return a text with it, so the
// text is kept for the calling thread until the MPI function reports the code (mpi/api/report.h): MPI_Error_string
// returns it then, or a fatal error handler prints it. An operation that may fail on another thread than the one that
// completes it keeps its text itself (Request::cause).
namespace [[gnu::visibility("default")]] patchbay {

// Keeps `text`, at most MPI_MAX_ERROR_STRING characters of it, for the report of `code`, in place of what was kept
// before. Returns `code`.
int note_cause(int code, std::string_view text) noexcept;

// What this thread keeps for `code`, or an empty text. Valid until this thread's next note_cause().
std::string_view noted_cause(int code) noexcept;

void forget_cause() noexcept;

} // namespace patchbay
