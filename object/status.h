// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "include/mpi.h"

#include <cstdint>
#include <cstring>

namespace [[gnu::visibility("default")]] patchbay {

// The internal fields of MPI_Status: the number of received bytes (64 bits in words 0 and 1, unaligned), and whether
// the operation was cancelled (word 2).
inline std::uint64_t status_bytes(const MPI_Status& status) noexcept {
    std::uint64_t bytes;
    std::memcpy(&bytes, status.MPI_internal, sizeof bytes);
    return bytes;
}
inline void set_status_bytes(MPI_Status& status, std::uint64_t bytes) noexcept {
    std::memcpy(status.MPI_internal, &bytes, sizeof bytes);
}
inline bool status_cancelled(const MPI_Status& status) noexcept {
    return status.MPI_internal[2] != 0;
}
inline void set_status_cancelled(MPI_Status& status, bool cancelled) noexcept {
    status.MPI_internal[2] = cancelled;
}

// Does not set MPI_ERROR, because only calls that return several statuses set it (MPI-5.0, 3.2.5).
inline void fill_status(MPI_Status& status, int source, int tag, std::uint64_t bytes) noexcept {
    status.MPI_SOURCE = source;
    status.MPI_TAG = tag;
    set_status_bytes(status, bytes);
    status.MPI_internal[2] = 0;
}
// The empty status (MPI-5.0, 3.7.3), which a wait on a null or inactive request returns. Its MPI_ERROR is MPI_SUCCESS.
inline void fill_empty_status(MPI_Status& status) noexcept {
    fill_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    status.MPI_ERROR = MPI_SUCCESS;
}
// The status of a receive from MPI_PROC_NULL (MPI-5.0, 3.10).
inline void fill_proc_null_status(MPI_Status& status) noexcept {
    fill_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
}

// Copies a status to the one that the user passed, which may be MPI_STATUS_IGNORE. Does not change MPI_ERROR.
inline void return_status(const MPI_Status& from, MPI_Status* to) noexcept {
    if (to != MPI_STATUS_IGNORE) {
        const int error = to->MPI_ERROR;
        *to = from;
        to->MPI_ERROR = error;
    }
}

} // namespace patchbay
