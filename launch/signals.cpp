// SPDX-License-Identifier: BSD-3-Clause
#include "launch/signals.h"

#include <cstring>

namespace patchbay::launch {

sigset_t forwarded_signals() {
    sigset_t set;
    ::sigemptyset(&set);
    for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT}) {
        ::sigaddset(&set, signal);
    }
    return set;
}

bool asks_to_end(int signal) {
    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

std::string signal_text(int signal) {
    const char* name = ::sigabbrev_np(signal);
    const char* description = ::sigdescr_np(signal);
    std::string text = name == nullptr ? "signal " + std::to_string(signal) : std::string("SIG") + name;
    return description == nullptr ? text : text + " (" + description + ")";
}

} // namespace patchbay::launch
