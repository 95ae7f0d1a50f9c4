// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/lifetime/lease.h"
#include "frameworks/btl/btl.h"

#include <memory>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {
namespace btl {

// The btls of a job, with the highest priority first: what the transports are made from (transports.h).
struct Selection {
    Lease lease; // declared first: the components stay open until the modules are destroyed
    std::vector<std::unique_ptr<Module>> modules;
};

} // namespace btl
} // namespace patchbay
