// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace patchbay {

// What mpirun says and takes beyond PMIx's own queries for process sets.
//
// With PMIX_QUERY_PSET_MEMBERSHIP it answers which version of the set that is.
inline constexpr char pset_version_key[] = "patchbay.pset.version"; // size_t
// A process defines a set by a PMIx_Job_control request with these two keys, and is answered with its version.
inline constexpr char pset_define_key[] = "patchbay.pset.define";   // string: the set's name
inline constexpr char pset_members_key[] = "patchbay.pset.members"; // array of PMIX_PROC

} // namespace patchbay
