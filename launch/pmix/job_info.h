// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch/job_layout.h"
#include "launch/pmix/info_list.h"

namespace patchbay::launch {

// The data of a job for PMIx_server_register_nspace: everything that its ranks can then look up without a request.
InfoList job_info(const JobLayout& layout);

} // namespace patchbay::launch
