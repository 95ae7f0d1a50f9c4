// SPDX-License-Identifier: BSD-3-Clause
#include "components/osc/sm/waits.h"

#include "object/error_cause.h"

namespace patchbay::osc::sm {

int report_ended() noexcept {
    return note_cause(MPI_ERR_PROC_ABORTED, "a process of the window has failed, for which this one waits");
}

} // namespace patchbay::osc::sm
