// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace patchbay {

// The attributes by which mpirun extends PMIx's own queries for process sets.
//
// The result of PMIX_QUERY_PSET_MEMBERSHIP also has the version of the set.
inline constexpr char pset_version_key[] = "patchbay.pset.version"; // size_t
// A process defines a set by a PMIx_Job_control request with these two keys, and is answered with its version.
inline constexpr char pset_define_key[] = "patchbay.pset.define";   // string: the set's name
inline constexpr char pset_members_key[] = "patchbay.pset.members"; // array of PMIX_PROC

} // namespace patchbay
