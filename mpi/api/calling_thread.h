// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "include/mpi.h"

namespace patchbay::api {

// Calls by threads that the thread level does not allow. At MPI_THREAD_SINGLE and MPI_THREAD_FUNNELED only the thread
// that called MPI_Init may call MPI for objects of the world model, and for those of a session only the thread that
// opened it (docs/threads.md).

// What a call is made on.
struct CallObject {
    enum class Kind : unsigned char { none, communicator, window };
    Kind kind = Kind::none; // none: requests
    void* handle = nullptr; // as the program gave it
};

// Called for a call that may be such a one: the first one of a second thread (`is_first`), which prints a warning, and
// with `mpi_check threads` each, which is an error. Returns MPI_SUCCESS, or the code of the error, which has been
// reported to the error handler of the object; then the call must have no effect.
int check_calling_thread(const char* function, CallObject object, bool is_first) noexcept;

} // namespace patchbay::api
