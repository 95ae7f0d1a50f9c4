// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"

#include <csignal>

namespace patchbay {

// The signals SIGSEGV and SIGBUS, for all parts of the library that cause faults on purpose. There is one signal
// handler: two would each keep the other as the one from before, and could not be removed in any order.
//
// A FaultUser says whether a fault was caused by its part, and then has changed `context` or the memory such that the
// program can go on; false: the next user is asked. It is called in the signal handler, on the thread with the fault,
// possibly on several threads at once: it must be async-signal-safe, must not block, and may change errno.
using FaultUser = bool (*)(siginfo_t* info, void* context) noexcept;

// Asks this user about faults from now on. The first user installs the handler; what the program had installed before
// is called for all other faults and for signals that a process sends, as the kernel would have called it: with
// siginfo_t, on the same stack, with the same signals blocked. Where the program had installed nothing, the default
// effect takes place. Not on several threads at once with another call of this or of stop_handling_faults().
//
// The program may replace the handler at any time; then no user is asked, unless the program's handler calls this one.
// In place of a handler of the program that may do so, this one is not installed again: the two would call each other
// for ever.
//
// Errc::system: the signals cannot be handled. Errc::invalid: there are too many users.
Status handle_faults(FaultUser user) noexcept;
// Does nothing for a user that does not handle faults. After the last user, what the program had installed is put back,
// unless the program has replaced the handler meanwhile.
void stop_handling_faults(FaultUser user) noexcept;
// false: the program has replaced the handler of SIGSEGV, or there is no user.
bool faults_reach_users() noexcept;

} // namespace patchbay
