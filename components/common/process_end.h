// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cerrno>
#include <csignal>
#include <cstdint>

namespace patchbay {

// What a component knows of another process of this node that it waits for by memory alone: a process that has ended
// rings no doorbell.

// Whether this process sees that one; not one in another namespace of pids.
inline bool can_see_process(std::int32_t pid) noexcept {
    return pid > 0 && (kill(pid, 0) == 0 || errno == EPERM);
}
// `pid`: of a process that this one could see; 0: of one that it could not see, which never has ended.
inline bool process_has_ended(std::int32_t pid) noexcept {
    return pid > 0 && kill(pid, 0) != 0 && errno == ESRCH;
}

} // namespace patchbay
