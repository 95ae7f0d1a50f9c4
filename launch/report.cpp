// SPDX-License-Identifier: BSD-3-Clause
#include "launch/report.h"

#include <system_error>
#include <unistd.h>

namespace patchbay::launch {

std::string errno_text(int error) {
    return std::generic_category().message(error);
}

std::string message_line(std::string_view text) {
    std::string line = "mpirun: ";
    line += text;
    line += '\n';
    return line;
}

void report(std::string_view text) {
    std::string line = message_line(text);
    // If the write to stderr itself fails, the error cannot be reported.
    [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

} // namespace patchbay::launch
