// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch/job_layout.h"
#include "launch/pmix/info_list.h"

namespace patchbay::launch {

// The data of a job for PMIx_server_register_nspace: everything that its ranks can then look up without a request.
// `run_number`: see core/runtime/job_protocol.h.
InfoList job_info(const JobLayout& layout, std::uint32_t run_number);
// The same for a job of another run, none of whose processes is local: they do not share this run's node segment.
InfoList foreign_job_info(const JobLayout& layout, std::uint32_t run_number);

} // namespace patchbay::launch
