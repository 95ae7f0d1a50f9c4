// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/error_cause.h"

namespace patchbay::coll::sm {

// MPI codes whose cause a member notes for the message to the user.
[[gnu::cold]] inline int failed_process() noexcept {
    return note_cause(MPI_ERR_PROC_ABORTED, "a process of the communicator has failed");
}
[[gnu::cold]] inline int other_count() noexcept {
    return note_cause(MPI_ERR_COUNT, "another member of the communicator gave another count");
}
[[gnu::cold]] inline int too_long() noexcept {
    return note_cause(MPI_ERR_TRUNCATE, "more data is sent than is received");
}
// `code`: what another member has shown.
[[gnu::cold]] inline int failed_elsewhere(int code) noexcept {
    return note_cause(code, "another member of the communicator has failed");
}

} // namespace patchbay::coll::sm
