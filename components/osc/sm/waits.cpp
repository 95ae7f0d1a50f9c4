// SPDX-License-Identifier: BSD-3-Clause
#include "components/osc/sm/waits.h"

#include "object/error_cause.h"

#include <cerrno>
#include <csignal>

namespace patchbay::osc::sm {

bool can_see(std::int32_t pid) noexcept {
    return pid > 0 && (kill(pid, 0) == 0 || errno == EPERM);
}

bool has_ended(std::int32_t pid) noexcept {
    return pid > 0 && kill(pid, 0) != 0 && errno == ESRCH;
}

int report_ended() noexcept {
    return note_cause(MPI_ERR_PROC_ABORTED, "a process of the window has failed, for which this one waits");
}

} // namespace patchbay::osc::sm
