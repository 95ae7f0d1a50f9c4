// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch/job_layout.h"
#include "launch/pmix/info_list.h"

namespace patchbay::launch {

// What PMIx_server_register_nspace wants to know about a job: everything that its ranks can then look up without
// asking.
InfoList job_info(const JobLayout& layout);

} // namespace patchbay::launch
