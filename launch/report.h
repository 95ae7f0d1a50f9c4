// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <string_view>

namespace patchbay::launch {

// The text of an errno value.
std::string errno_text(int error);

// `mpirun: text` and a newline.
std::string message_line(std::string_view text);

// Writes message_line to stderr with one write(2). While ranks run, messages are written by Output instead, which keeps
// them apart from the lines of the ranks.
void report(std::string_view text);

// Exit statuses that do not come from a rank: 126 and 127 are those of a shell, 124 is that of timeout(1).
inline constexpr int exit_usage = 2;
inline constexpr int exit_failure = 1;
inline constexpr int exit_timeout = 124;
inline constexpr int exit_cannot_run = 126;
inline constexpr int exit_not_found = 127;
inline constexpr int exit_signal_base = 128;

} // namespace patchbay::launch
