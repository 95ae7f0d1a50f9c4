// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace patchbay {

// A member of a group that is being made sends mpirun a PMIx_Job_control request with these two keys; all members are
// answered with PMIX_GROUP_CONTEXT_ID (size_t) when the last one has come, or with an error when one of them has
// failed.
inline constexpr char group_key[] = "patchbay.group";                 // string: the group's name
inline constexpr char group_members_key[] = "patchbay.group.members"; // array of PMIX_PROC, the same at each member

} // namespace patchbay
