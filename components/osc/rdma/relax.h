// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>

namespace patchbay::osc::rdma {

// Between two looks at a word that another process is about to change.
inline void relax() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

} // namespace patchbay::osc::rdma
