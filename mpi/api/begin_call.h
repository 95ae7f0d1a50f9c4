// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/instance/single_thread.h"

namespace patchbay::api {

// The part of begin_call() for another thread than `single_thread`, and for events that wait for a call.
[[gnu::cold, gnu::noinline]] void begin_call_slowly() noexcept;

// Called at the beginning of an MPI call that communicates, before it has done anything, while the calling thread holds
// no lock. It calls callbacks of tools that may call any function of MPI (mpi/tool/events.h), and notes that a second
// thread uses the library.
inline void begin_call() noexcept {
    if (single_thread.load(std::memory_order_relaxed) != this_thread_id()) {
        begin_call_slowly();
    }
}

// The same in a call that ends a use of the library, and which another thread than the one that communicated may make:
// it only calls the callbacks.
void begin_last_call() noexcept;

} // namespace patchbay::api
