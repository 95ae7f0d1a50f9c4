// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>

namespace patchbay {

class Instance;

// Identifies a thread of this process while that thread exists. 0 identifies none.
using ThreadId = std::uintptr_t;

inline ThreadId this_thread_id() noexcept {
#if defined(__x86_64__)
    ThreadId id; // the address of the thread's control block, which takes one load
    asm("mov %%fs:0, %0" : "=r"(id));
    return id;
#else
    return reinterpret_cast<ThreadId>(__builtin_thread_pointer());
#endif
}

// The thread that may use the library without locks while all users are at MPI_THREAD_FUNNELED or below: the one that
// opened the first user. 0: the library locks, or a user is at MPI_THREAD_SERIALIZED, where the program serializes its
// calls. Another thread may own another session, and a program may break its guarantees, so that every call that
// communicates compares its thread with this one.
// A ThreadId is a multiple of 8; the lowest bits are flags.
[[gnu::visibility("hidden")]] extern std::atomic<ThreadId> single_thread;

// Set in `single_thread` while the next call that communicates has something to do before its own work
// (begin_call() in mpi/api). So the calls take no further look at it: their fast paths compare `single_thread` anyway.
inline constexpr ThreadId work_for_calls = 1;
// Set while every call that communicates is to look whether its thread may make it: with `mpi_check threads`.
inline constexpr ThreadId threads_are_checked = 2;

// `single_thread` without the flags, which the second function keeps.
inline ThreadId known_single_thread(std::memory_order order = std::memory_order_relaxed) noexcept {
    return single_thread.load(order) & ~(work_for_calls | threads_are_checked);
}
[[gnu::visibility("hidden")]] void set_single_thread(ThreadId thread) noexcept;

// The instance of that thread; valid while `single_thread` is not 0.
[[gnu::visibility("hidden")]] extern std::atomic<Instance*> single_thread_instance;

// Called by a thread that may be another one than `single_thread`. If it is, and `single_thread` is not 0, the library
// locks when this returns. Returns whether this is so.
[[gnu::visibility("hidden")]] bool check_other_thread() noexcept;

// Whether begin_call() has nothing to do. Never, while every call is checked.
inline bool thread_is_known() noexcept {
    const ThreadId known = single_thread.load(std::memory_order_relaxed);
    if (known == this_thread_id()) [[likely]] {
        return true;
    }
    return known == 0;
}

// Called at the beginning of an MPI call, by begin_call(), while the calling thread holds no lock. Returns whether the
// call is the first one of another thread than `single_thread`, for which the library locks now.
inline bool check_thread() noexcept {
    return known_single_thread() != this_thread_id() && check_other_thread();
}

} // namespace patchbay
