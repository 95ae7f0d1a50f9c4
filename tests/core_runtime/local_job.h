// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/runtime/job_table.h"

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace patchbay::test {

// A job whose processes are all on this node; `nonce` distinguishes it.
inline Job job_with(std::uint64_t nonce, std::uint32_t ranks) {
    Job job{"job." + std::to_string(nonce), nonce, ranks, std::vector<std::uint32_t>(ranks)};
    std::iota(job.local_ranks.begin(), job.local_ranks.end(), 0);
    return job;
}

} // namespace patchbay::test
