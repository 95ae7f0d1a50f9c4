// SPDX-License-Identifier: BSD-3-Clause
#include "object/error_code.h"

#include "include/mpi.h"
#include "object/error_cause.h"

namespace patchbay {

int error_code(Errc code) noexcept {
    switch (code) {
    case Errc::not_found:
    case Errc::invalid:
        return MPI_ERR_ARG;
    case Errc::out_of_memory:
        return MPI_ERR_NO_MEM;
    case Errc::unsupported:
        return MPI_ERR_UNSUPPORTED_OPERATION;
    case Errc::peer_failed:
        return MPI_ERR_PROC_ABORTED;
    case Errc::not_available:
    case Errc::system:
    case Errc::timed_out:
        break;
    }
    return MPI_ERR_OTHER;
}

int note_cause(const Error& error) noexcept {
    return note_cause(error_code(error.code), error.text);
}

} // namespace patchbay
