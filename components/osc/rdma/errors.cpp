// SPDX-License-Identifier: BSD-3-Clause
#include "components/osc/rdma/errors.h"

#include "include/mpi.h"
#include "object/error_cause.h"

#include <cerrno>
#include <cstdio>

namespace patchbay::osc::rdma {

int code_of(int error) noexcept {
    switch (error) {
    case 0:
        return MPI_SUCCESS;
    case ESRCH:
        return MPI_ERR_PROC_ABORTED;
    case ERANGE:
    case EFAULT:
        return MPI_ERR_RMA_RANGE;
    case ENOMEM:
        return MPI_ERR_NO_MEM;
    default:
        return MPI_ERR_OTHER;
    }
}

const char* describe_failure(int error) noexcept {
    switch (error) {
    case ESRCH:
        return "the process has failed, or has finalized MPI";
    case EPERM:
        return "the system does not permit access to its memory any more";
    case EACCES:
        return "its memory is not that of the window any more";
    case ERANGE:
        return "the operation leaves the memory of the window";
    case EFAULT:
        return "there is no memory at the place of the target, or at the buffer";
    case ENOMEM:
        return "no memory";
    default:
        return "the transport cannot carry out the operation";
    }
}

int report_failed_member(int member) noexcept {
    char text[64];
    std::snprintf(text, sizeof text, "rank %d of the window has failed", member);
    return note_cause(MPI_ERR_PROC_ABORTED, text);
}

int report_failure(int error, int member) noexcept {
    if (error == 0) {
        return MPI_SUCCESS;
    }
    char text[160];
    std::snprintf(text, sizeof text, "access to the memory of rank %d of the window: %s (errno %d)", member,
        describe_failure(error), error);
    return note_cause(code_of(error), text);
}

} // namespace patchbay::osc::rdma
