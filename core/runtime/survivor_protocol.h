// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace patchbay {

// Set by mpirun --disable-auto-cleanup: when a rank fails, the others are not ended, but get an event of PMIx.
inline constexpr char survivors_variable[] = "PATCHBAY_NODE_SURVIVORS";

} // namespace patchbay
