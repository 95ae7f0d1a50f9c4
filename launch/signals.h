// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <signal.h>
#include <string>

namespace patchbay::launch {

// The signals that the front end forwards to the ranks.
sigset_t forwarded_signals();

// Whether a signal requests the end of the job: the second such signal kills it.
bool asks_to_end(int signal);

// `SIGSEGV (Segmentation fault)`.
std::string signal_text(int signal);

} // namespace patchbay::launch
