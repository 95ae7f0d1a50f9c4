// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <sys/ioctl.h>
#include <unistd.h>

namespace patchbay {

// The columns of the terminal to which the process prints on stdout; 0: that is no terminal, or it does not tell.
inline unsigned terminal_columns() noexcept {
    winsize window{};
    return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 ? window.ws_col : 0;
}

// Of a text with options: as wide as the terminal, within what can be read.
inline unsigned columns_of_help() noexcept {
    constexpr unsigned narrowest = 60;
    constexpr unsigned widest = 100;
    const unsigned columns = terminal_columns();
    return columns > 0 ? std::clamp(columns, narrowest, widest) : widest;
}

} // namespace patchbay
