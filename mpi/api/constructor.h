// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/out_of_memory.h"
#include "frameworks/coll/engine.h"
#include "mpi/api/args.h"
#include "mpi/instance/instance.h"

namespace patchbay::api {

// Runs a blocking constructor that all members of the communicator of `args` call: make() returns an MPI code, and may
// throw std::bad_alloc. In the checking mode the members compare first which functions they have called, also one whose
// other arguments are wrong, if it takes part.
template <class Make>
int run_constructor(const Arguments& args, const Make& make) noexcept {
    Communicator& comm = *args.comm();
    const int code = comm.instance->coll_engine().compare_constructor(args.function(), comm);
    return code == MPI_SUCCESS ? unless_out_of_memory(MPI_ERR_NO_MEM, make) : code;
}

} // namespace patchbay::api
