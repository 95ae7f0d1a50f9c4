// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"

namespace [[gnu::visibility("default")]] patchbay {

// The MPI error class that fits an error of the core.
int error_code(Errc code) noexcept;

// The same, and keeps the error's text for the report of that code (object/error_cause.h).
int note_cause(const Error& error) noexcept;

} // namespace patchbay
