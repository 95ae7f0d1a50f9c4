// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/memory/node_segment.h"
#include "core/runtime/runtime.h"
#include "frameworks/context.h"
#include "object/group.h"

namespace patchbay::common {

// Whether every process of the group attaches to the segment of this process.
inline bool all_share_memory(Context& context, const Group& group, const NodeSegment& node) {
    for (int rank = 0; rank < group.size(); ++rank) {
        const ProcessId process = group.process(rank);
        if (process != context.self() &&
            (!context.runtime().is_local(process) || (process.job != own_job && !node.is_for_all_jobs()))) {
            return false;
        }
    }
    return true;
}

} // namespace patchbay::common
