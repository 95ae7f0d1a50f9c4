// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>

namespace patchbay {

// A thread of this process, as long as it lives. 0 is none.
using ThreadMark = std::uintptr_t;

inline ThreadMark this_thread_mark() noexcept {
#if defined(__x86_64__)
    ThreadMark mark; // its control block: one load
    asm("mov %%fs:0, %0" : "=r"(mark));
    return mark;
#else
    return reinterpret_cast<ThreadMark>(__builtin_thread_pointer());
#endif
}

// The thread that may use the library without locks while all its users are at MPI_THREAD_FUNNELED or below: the one
// that opened the first of them. 0: there are locks, or a user that sees to it itself (MPI_THREAD_SERIALIZED). Another
// session may be another thread's by right, and programs break promises: every call that communicates looks.
[[gnu::visibility("hidden")]] extern std::atomic<ThreadMark> lone_thread;

// Another thread than that one has come. Returns when the library locks.
[[gnu::visibility("hidden"), gnu::cold]] void end_lone_thread() noexcept;

// At the beginning of a call, with nothing locked.
inline void notice_thread() noexcept {
    const ThreadMark lone = lone_thread.load(std::memory_order_relaxed);
    if (lone != 0 && lone != this_thread_mark()) [[unlikely]] {
        end_lone_thread();
    }
}

} // namespace patchbay
