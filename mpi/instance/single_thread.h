// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>

namespace patchbay {

class Instance;

// A thread of this process, as long as it lives. 0 is none.
using ThreadId = std::uintptr_t;

inline ThreadId this_thread_id() noexcept {
#if defined(__x86_64__)
    ThreadId mark; // its control block: one load
    asm("mov %%fs:0, %0" : "=r"(mark));
    return mark;
#else
    return reinterpret_cast<ThreadId>(__builtin_thread_pointer());
#endif
}

// The thread that may use the library without locks while all its users are at MPI_THREAD_FUNNELED or below: the one
// that opened the first of them. 0: there are locks, or a user that sees to it itself (MPI_THREAD_SERIALIZED). Another
// session may be another thread's by right, and programs break promises: every call that communicates looks.
[[gnu::visibility("hidden")]] extern std::atomic<ThreadId> single_thread;

// The instance of that thread; valid while `single_thread` is not 0.
[[gnu::visibility("hidden")]] extern std::atomic<Instance*> single_thread_instance;

// The calling thread is not that one: if there is one, the library locks when this returns.
[[gnu::visibility("hidden")]] void check_other_thread() noexcept;

// At the beginning of a call, with nothing locked.
inline void check_thread() noexcept {
    if (single_thread.load(std::memory_order_relaxed) != this_thread_id()) {
        check_other_thread();
    }
}

} // namespace patchbay
