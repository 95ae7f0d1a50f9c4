// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/runtime/runtime.h"
#include "mpi/api/args.h"
#include "mpi/library/library.h"

namespace patchbay::api {

// The library's instance, for a call that has no object to which one belongs. nullptr: MPI is not initialized, and
// *code is the error, of the class `missing`.
inline Instance* initialized(const Arguments& args, int* code, int missing = MPI_ERR_OTHER) {
    Instance* instance = library().instance();
    if (instance == nullptr) {
        *code = args.fail(missing, "MPI is not initialized: the world model is not active and no session is open");
    }
    return instance;
}

// Chooses whether the library locks, because another thread may wait for what this call begins, and this may be the
// program's first communication. nullptr: *code is the error.
inline Instance* with_locking_chosen(const Arguments& args, Instance* instance, int* code) {
    if (instance == nullptr) {
        return nullptr;
    }
    if (Status settled = instance->choose_locking(); !settled) {
        *code = args.fail(MPI_ERR_OTHER, settled.error().text);
        return nullptr;
    }
    return instance;
}

// Ends a call that was to initialize the library and could not.
inline int fail_start(const Arguments& args, const Error& error) {
    const int code = args.fail(error.code == Errc::out_of_memory ? MPI_ERR_NO_MEM : MPI_ERR_OTHER, error.text);
    Runtime::end_abandoned();
    return code;
}

} // namespace patchbay::api
