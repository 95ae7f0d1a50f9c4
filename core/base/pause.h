// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace patchbay {

// Tells the processor that this thread waits for a word that another one changes: the other thread of the core goes
// faster, and the loop that waits leaves without a mispredicted order of its loads.
inline void pause_processor() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb");
#endif
}

} // namespace patchbay
