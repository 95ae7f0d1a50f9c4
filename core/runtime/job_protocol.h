// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace patchbay {

// A value that mpirun provides about each of its jobs, as PMIx's own ones (PMIx_Get of the namespace): 64 random bits
// (uint64_t). They distinguish the job from all other jobs of all launchers, and are no secret, whereas the namespace
// is one.
inline constexpr char job_nonce_key[] = "patchbay.job.nonce";

} // namespace patchbay
