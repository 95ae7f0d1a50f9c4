// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace patchbay {

// With mpirun --timing a rank that has this variable sends a PMIx_Job_control request with this key (a flag) when its
// first MPI_Init or MPI_Session_init is done.
inline constexpr char ready_variable[] = "PATCHBAY_NODE_TIMING";
inline constexpr char ready_key[] = "patchbay.ready";

} // namespace patchbay
