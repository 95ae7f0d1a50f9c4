// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace patchbay {

// The attributes by which mpirun extends PMIx's own queries for process sets.
//
// The sets of a job that a process has spawned are known in that job only, so that each job may use any name. A query
// with this qualifier is answered for that job: with its own sets, and those of the whole run whose names it does not
// have itself. A query without it is answered with those of the whole run.
inline constexpr char pset_job_key[] = "patchbay.pset.job"; // string: the namespace of the job
// The result of PMIX_QUERY_PSET_MEMBERSHIP also has the version of the set, and whether it is one of the job's own,
// which never change and of which no event tells.
inline constexpr char pset_version_key[] = "patchbay.pset.version"; // size_t
inline constexpr char pset_own_key[] = "patchbay.pset.own";         // bool
// A process defines a set by a PMIx_Job_control request with these two keys, and is answered with its version.
inline constexpr char pset_define_key[] = "patchbay.pset.define";   // string: the set's name
inline constexpr char pset_members_key[] = "patchbay.pset.members"; // array of PMIX_PROC

} // namespace patchbay
