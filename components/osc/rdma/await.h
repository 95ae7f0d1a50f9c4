// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/waiter.h"

#include <atomic>

namespace patchbay::osc::rdma {

// wait_until() for a word that another process is likely to write within a microsecond: it looks at the word alone for
// a moment first, because a poll between two looks takes longer than the word takes to arrive.
template <class Done>
inline void await(Progress& progress, Done&& done) {
    if (progress.policy().spin.count() != 0) {
        for (int looks = 200; looks != 0; --looks) {
            if (done()) {
                return;
            }
            std::atomic_signal_fence(std::memory_order_seq_cst);
        }
    }
    wait_until(progress, done);
}

} // namespace patchbay::osc::rdma
