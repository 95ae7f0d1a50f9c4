// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace patchbay {

// A value that mpirun provides about each of its jobs, as PMIx's own ones (PMIx_Get of the namespace): 64 random bits
// (uint64_t). They distinguish the job from all other jobs of all launchers, and are no secret, whereas the namespace
// is one.
inline constexpr char job_nonce_key[] = "patchbay.job.nonce";
// The same about the run of the job, which is all that one mpirun has started: 31 random bits (uint32_t). The processes
// of one run on a node share a node segment, those of two runs do not.
inline constexpr char job_run_key[] = "patchbay.job.run";

// A process asks by PMIx_Job_control with this key and the namespace of a job (string) for a job that PMIx does not
// know, which may be one of another mpirun of the user. The answer has the key job_found_key (bool) once PMIx knows the
// job. PMIX_ERR_NOT_FOUND: there is no such job.
inline constexpr char job_find_key[] = "patchbay.job.find";
inline constexpr char job_found_key[] = "patchbay.job.found";

} // namespace patchbay
