// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"

namespace patchbay {

// Has the instruction by which is_object() (object/probed_handle.h) reads the object of a handle survive an address
// that is not mapped, with core/base/faults.h. Called by the first user of the library, and when the last one has gone.
//
// Errc::system: the signals cannot be handled.
Status survive_handle_faults() noexcept;
void stop_surviving_handle_faults() noexcept;

} // namespace patchbay
