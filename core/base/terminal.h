// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <sys/ioctl.h>
#include <unistd.h>

namespace patchbay {

// The columns of the terminal to which the process prints on stdout; 0: that is no terminal, or it does not tell.
inline unsigned terminal_columns() noexcept {
    winsize window{};
    return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 ? window.ws_col : 0;
}

} // namespace patchbay
