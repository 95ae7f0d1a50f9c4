// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"

namespace [[gnu::visibility("default")]] patchbay {

// Converts an error of the core to an MPI error class.
int error_code(Errc code) noexcept;

// The same for an error that nobody has reported yet: logs its text, because an MPI code cannot carry it.
int report_cause(const Error& error) noexcept;

} // namespace patchbay
