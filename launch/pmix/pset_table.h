// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <map>
#include <pmix.h>
#include <string>
#include <vector>

namespace patchbay::launch {

// The process sets of the job by name. PMIx keeps no list that a client could query: it asks its host.
using PsetTable = std::map<std::string, std::vector<pmix_proc_t>>;

} // namespace patchbay::launch
