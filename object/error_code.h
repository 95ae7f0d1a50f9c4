// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "include/mpi.h"

namespace [[gnu::visibility("default")]] patchbay {

// Of two steps of an operation.
constexpr int first_error(int first, int second) noexcept {
    return first != MPI_SUCCESS ? first : second;
}

// Converts an error of the core to an MPI error class.
int error_code(Errc code) noexcept;

// Converts the error, and stores its text for the report of that MPI code (object/error_cause.h).
int note_cause(const Error& error) noexcept;

} // namespace patchbay
