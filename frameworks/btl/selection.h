// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/lifetime/lease.h"
#include "frameworks/btl/btl.h"

#include <memory>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {
namespace btl {

// The btls of a job, best first: what Context::select_btls returns. All of them are used: each peer is reached by the
// fastest one that can.
struct Selection {
    Lease lease; // declared first: the components stay open until the modules are destroyed
    std::vector<std::unique_ptr<Module>> modules;
};

} // namespace btl
} // namespace patchbay
