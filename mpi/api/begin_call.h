// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/api/calling_thread.h"
#include "mpi/instance/single_thread.h"

namespace patchbay::api {

// The part of begin_call() for another thread than `single_thread`, for events that wait for a call, and for calls that
// are checked.
[[gnu::cold, gnu::noinline]] int begin_call_slowly(const char* function, CallObject object) noexcept;

// Called at the beginning of an MPI call that communicates, before it has done anything, while the calling thread holds
// no lock. It calls callbacks of tools that may call any function of MPI (mpi/tool/events.h), and notes that a second
// thread uses the library. Returns MPI_SUCCESS, or the code of an error that has been reported: then the call has no
// effect and returns it, if arguments are checked.
inline int begin_call(
    const char* function, CallObject::Kind kind = CallObject::Kind::none, void* handle = nullptr) noexcept {
    if (single_thread.load(std::memory_order_relaxed) != this_thread_id()) [[unlikely]] {
        return begin_call_slowly(function, {kind, handle});
    }
    return MPI_SUCCESS;
}

// For a call that ends a use of the library, and which another thread than the one that communicated may make:
// it only calls the callbacks.
void begin_last_call() noexcept;

} // namespace patchbay::api
